#ifndef EMBD_SERVER_FORMATS_COLUMN_MAJOR_H_
#define EMBD_SERVER_FORMATS_COLUMN_MAJOR_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"
#include "server/formats/file_reader.h"

namespace embd::formats {

/// A matrix in a file that stores one column after the other (Fortran order).
struct ColumnMajorMatrix {
  std::uint64_t offset = 0;  ///< of its first byte in the file
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t element_size = 0;  ///< 2, 4 or 8 bytes
  bool big_endian = false;
};

/// Writes the matrix to `out` row after row, little-endian. All of it must lie inside the file, and `out` has exactly
/// its size.
///
/// Cost: reads every byte once, in runs of whole columns or of at least 16 KiB as far as `buffer_bytes` allows, and
/// moves blocks of a cache line by a cache line. Memory: `buffer_bytes` and a few per cent, at least one element.
/// Errors: those of `FileReader::ReadAt`.
[[nodiscard]] absl::Status ReadColumnMajor(const FileReader& file, const ColumnMajorMatrix& matrix,
                                           std::size_t buffer_bytes, std::span<std::byte> out);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_COLUMN_MAJOR_H_
