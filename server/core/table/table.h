#ifndef EMBD_SERVER_CORE_TABLE_TABLE_H_
#define EMBD_SERVER_CORE_TABLE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// Bytes of a table of that shape.
///
/// Errors:
///   INVALID_ARGUMENT  rows or dim is less than 1, or the product exceeds 2^63 - 1.
[[nodiscard]] absl::StatusOr<std::size_t> TableBytes(std::int64_t rows, std::int64_t dim, ElementType type);

/// An immutable, row-major matrix of embedding rows in its stored type, little-endian.
///
/// Ownership: owns its storage; movable, not copyable (tables can be large).
/// Thread safety: never changes after `Create`, so any number of threads may read it.
class Table {
 public:
  /// Takes over `storage`, whose size must be exactly `TableBytes(rows, dim, type)`.
  ///
  /// Errors:
  ///   INVALID_ARGUMENT  a dimension is less than 1, their product overflows, or the size differs.
  [[nodiscard]] static absl::StatusOr<Table> Create(std::int64_t rows, std::int64_t dim, ElementType type,
                                                    AlignedBuffer storage);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t dim() const { return dim_; }
  [[nodiscard]] ElementType element_type() const { return type_; }
  /// rows() * dim().
  [[nodiscard]] std::int64_t element_count() const { return rows_ * dim_; }
  /// Bytes of one row.
  [[nodiscard]] std::size_t row_bytes() const { return static_cast<std::size_t>(dim_) * ElementSize(type_); }
  /// The whole table, row after row.
  [[nodiscard]] std::span<const std::byte> bytes() const { return storage_.bytes(); }
  /// Row `index`, which must lie in [0, rows()).
  [[nodiscard]] const std::byte* row(std::int64_t index) const {
    return storage_.data() + static_cast<std::size_t>(index) * row_bytes();
  }

 private:
  Table(std::int64_t rows, std::int64_t dim, ElementType type, AlignedBuffer storage)
      : rows_(rows), dim_(dim), type_(type), storage_(std::move(storage)) {}

  std::int64_t rows_;
  std::int64_t dim_;
  ElementType type_;
  AlignedBuffer storage_;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_TABLE_H_
