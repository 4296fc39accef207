#ifndef EMBD_SERVER_CORE_TABLE_TABLE_H_
#define EMBD_SERVER_CORE_TABLE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "server/core/table/mapped_region.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// Bytes of a table of that shape.
///
/// Errors:
///   INVALID_ARGUMENT  rows or dim is less than 1, or the product exceeds 2^63 - 1.
[[nodiscard]] absl::StatusOr<std::size_t> TableBytes(std::int64_t rows, std::int64_t dim, ElementType type);

/// What holds a table's rows: memory of its own, or a part of a file.
using TableStorage = std::variant<AlignedBuffer, MappedRegion>;

/// An immutable, row-major matrix of embedding rows in its stored type, little-endian.
///
/// Rows of owned memory begin at any multiple of row_bytes() from a 64-byte boundary; those of a mapped file at any
/// multiple of the element size, where whoever maps it sees to that.
/// Ownership: owns its storage; movable, not copyable (tables can be large).
/// Thread safety: never changes after `Create`, so any number of threads may read it. Rows of a mapped file can be lost
/// when somebody else cuts the file short: they read as zeros then, and `damaged` tells.
class Table {
 public:
  /// Takes over `storage`, whose size must be exactly `TableBytes(rows, dim, type)`.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  a dimension is less than 1, their product overflows, or the size differs.
  [[nodiscard]] static absl::StatusOr<Table> Create(std::int64_t rows, std::int64_t dim, ElementType type,
                                                    TableStorage storage);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t dim() const { return dim_; }
  [[nodiscard]] ElementType element_type() const { return type_; }
  /// rows() * dim().
  [[nodiscard]] std::int64_t element_count() const { return rows_ * dim_; }
  /// Bytes of one row.
  [[nodiscard]] std::size_t row_bytes() const { return static_cast<std::size_t>(dim_) * ElementSize(type_); }
  /// The whole table, row after row.
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  /// Row `index`, which must lie in [0, rows()).
  [[nodiscard]] const std::byte* row(std::int64_t index) const {
    return bytes_.data() + static_cast<std::size_t>(index) * row_bytes();
  }
  /// Whether the rows rest in a mapped file, and not in memory of their own.
  [[nodiscard]] bool mapped() const { return std::holds_alternative<MappedRegion>(storage_); }
  /// Whether rows have been lost, so that what was read since may be wrong; never for owned memory. Once true, it stays
  /// so. Cost: a system call where the table is mapped.
  [[nodiscard]] bool damaged() const {
    const auto* const region = std::get_if<MappedRegion>(&storage_);
    return region != nullptr && region->damaged();
  }
  /// Says how a mapped table will be read from now on; nothing for owned memory.
  void Advise(MappedRegion::Access access) const {
    if (const auto* const region = std::get_if<MappedRegion>(&storage_)) region->Advise(access);
  }

 private:
  Table(std::int64_t rows, std::int64_t dim, ElementType type, TableStorage storage, std::span<const std::byte> bytes)
      : rows_(rows), dim_(dim), type_(type), storage_(std::move(storage)), bytes_(bytes) {}

  std::int64_t rows_;
  std::int64_t dim_;
  ElementType type_;
  TableStorage storage_;
  std::span<const std::byte> bytes_;  // of storage_; they stay in place when it moves
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_TABLE_H_
