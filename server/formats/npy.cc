#include "server/formats/npy.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/tensor/checked_math.h"
#include "server/formats/byte_order.h"
#include "server/formats/column_major.h"
#include "server/formats/file_error.h"
#include "server/formats/npy_header.h"

namespace embd::formats {
namespace {

constexpr std::size_t kTransposeBufferBytes = std::size_t{4} << 20;

// The size of the data, if it is just what follows the header.
absl::StatusOr<std::size_t> CheckedDataBytes(const NpyLayout& layout, std::uint64_t file_size) {
  const NpyHeader& header = layout.header;
  if (header.rows == 0 || header.columns == 0) {
    return InvalidFile(absl::StrCat("shape (", header.rows, ", ", header.columns, ") has no elements"));
  }
  const auto wanted =
      core::CheckedProduct({header.rows, header.columns, static_cast<std::int64_t>(core::ElementSize(header.type))});
  const std::uint64_t found = file_size - layout.data_offset;
  if (wanted.has_value() && static_cast<std::uint64_t>(*wanted) == found) return static_cast<std::size_t>(*wanted);
  return InvalidFile(absl::StrCat("byte ", layout.data_offset, ": shape (", header.rows, ", ", header.columns, ") of ",
                                  core::ElementTypeName(header.type), " takes ",
                                  wanted.has_value() ? absl::StrCat(*wanted) : "more than 2^63 - 1",
                                  " bytes of data, the file holds ", found));
}

// Reverses each piece while it is still in the cache.
absl::Status ReadBigEndian(const FileReader& file, std::uint64_t offset, std::size_t element_size,
                           std::span<std::byte> out) {
  constexpr std::size_t kPieceBytes = 256 << 10;
  while (!out.empty()) {
    const auto piece = out.first(std::min(kPieceBytes, out.size()));
    if (auto status = file.ReadAt(offset, piece); !status.ok()) return status;
    ReverseElementBytes(piece, element_size);
    offset += piece.size();
    out = out.subspan(piece.size());
  }
  return absl::OkStatus();
}

absl::Status Decode(const FileReader& file, const NpyLayout& layout, std::span<std::byte> out) {
  const NpyHeader& header = layout.header;
  const std::size_t element_size = core::ElementSize(header.type);
  if (!header.column_major) return ReadBigEndian(file, layout.data_offset, element_size, out);
  return ReadColumnMajor(file,
                         {.offset = layout.data_offset,
                          .rows = static_cast<std::size_t>(header.rows),
                          .columns = static_cast<std::size_t>(header.columns),
                          .element_size = element_size,
                          .big_endian = header.big_endian},
                         kTransposeBufferBytes, out);
}

}  // namespace

absl::StatusOr<LoadedRows> LoadNpy(const FileReader& file, const StorageOptions& how) {
  const auto layout = ReadNpyLayout(file);
  if (!layout.ok()) return layout.status();
  const auto bytes = CheckedDataBytes(*layout, file.size());
  if (!bytes.ok()) return bytes.status();
  const NpyHeader& header = layout->header;
  if (!header.column_major && !header.big_endian) {
    return LoadStoredRows(file, {header.type, header.rows, header.columns, layout->data_offset}, how);
  }
  if (how.mmap) return CannotMap(header.column_major ? "Fortran order" : "a big-endian array");
  auto storage = AllocateTableStorage(*bytes, how.reserve);
  if (!storage.ok()) return storage.status();
  if (auto status = Decode(file, *layout, storage->bytes()); !status.ok()) return status;
  auto table = core::Table::Create(header.rows, header.columns, header.type, *std::move(storage));
  if (!table.ok()) return table.status();
  return LoadedRows::Of(*std::move(table));
}

}  // namespace embd::formats
