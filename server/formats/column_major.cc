#include "server/formats/column_major.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "server/formats/byte_order.h"

namespace embd::formats {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kMinRunBytes = 16 << 10;  // shorter reads cost more in system calls than in copying

/// The part of a matrix that is read at once: `rows` elements of each of `columns` columns.
struct Tile {
  std::size_t rows;
  std::size_t columns;
  std::size_t stride;  // elements from one column to the next in the buffer
};

Tile ChooseTile(const ColumnMajorMatrix& matrix, std::size_t buffer_bytes) {
  const std::size_t buffer_elements = std::max<std::size_t>(1, buffer_bytes / matrix.element_size);
  const std::size_t min_run = std::min(kMinRunBytes / matrix.element_size, buffer_elements);
  Tile tile{};
  tile.rows = std::min(matrix.rows, std::max(min_run, buffer_elements / matrix.columns));
  tile.columns = std::min(matrix.columns, buffer_elements / tile.rows);
  // Whole columns stand one behind the other as in the file. Others get a gap of a line: columns a power of two apart
  // would push each other out of the cache.
  tile.stride = tile.rows == matrix.rows ? tile.rows : tile.rows + kCacheLine / matrix.element_size;
  return tile;
}

// Transposes `columns` columns of `rows` elements, `stride` apart, to rows that are `out_stride` elements apart.
template <std::size_t kSize>
void Transpose(const std::byte* in, std::size_t rows, std::size_t columns, std::size_t stride, std::byte* out,
               std::size_t out_stride) {
  constexpr std::size_t kBlock = kCacheLine / kSize;
  for (std::size_t row0 = 0; row0 < rows; row0 += kBlock) {
    const std::size_t row_end = std::min(rows, row0 + kBlock);
    for (std::size_t column0 = 0; column0 < columns; column0 += kBlock) {
      const std::size_t column_end = std::min(columns, column0 + kBlock);
      for (std::size_t row = row0; row < row_end; ++row) {
        for (std::size_t column = column0; column < column_end; ++column) {
          std::memcpy(out + (row * out_stride + column) * kSize, in + (column * stride + row) * kSize, kSize);
        }
      }
    }
  }
}

void TransposeElements(std::size_t element_size, const std::byte* in, std::size_t rows, std::size_t columns,
                       std::size_t stride, std::byte* out, std::size_t out_stride) {
  switch (element_size) {
    case 2: return Transpose<2>(in, rows, columns, stride, out, out_stride);
    case 4: return Transpose<4>(in, rows, columns, stride, out, out_stride);
    default: return Transpose<8>(in, rows, columns, stride, out, out_stride);
  }
}

// Reads rows [row0, row0 + rows) of columns [column0, column0 + columns) into `buffer`, columns `stride` apart.
absl::Status ReadTile(const FileReader& file, const ColumnMajorMatrix& matrix, std::size_t row0, std::size_t rows,
                      std::size_t column0, std::size_t columns, std::size_t stride, std::span<std::byte> buffer) {
  const std::size_t size = matrix.element_size;
  const bool whole_columns = rows == matrix.rows;
  const std::size_t runs = whole_columns ? 1 : columns;
  const std::size_t run_bytes = (whole_columns ? rows * columns : rows) * size;
  for (std::size_t run = 0; run < runs; ++run) {
    const std::uint64_t offset = matrix.offset + ((column0 + run) * matrix.rows + row0) * size;
    const auto target = buffer.subspan(run * stride * size, run_bytes);
    if (auto status = file.ReadAt(offset, target); !status.ok()) return status;
    if (matrix.big_endian) ReverseElementBytes(target, size);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadColumnMajor(const FileReader& file, const ColumnMajorMatrix& matrix, std::size_t buffer_bytes,
                             std::span<std::byte> out) {
  const Tile tile = ChooseTile(matrix, buffer_bytes);
  const std::size_t size = matrix.element_size;
  std::vector<std::byte> buffer(tile.stride * tile.columns * size);
  for (std::size_t row0 = 0; row0 < matrix.rows; row0 += tile.rows) {
    const std::size_t rows = std::min(tile.rows, matrix.rows - row0);
    for (std::size_t column0 = 0; column0 < matrix.columns; column0 += tile.columns) {
      const std::size_t columns = std::min(tile.columns, matrix.columns - column0);
      if (auto status = ReadTile(file, matrix, row0, rows, column0, columns, tile.stride, buffer); !status.ok()) {
        return status;
      }
      TransposeElements(size, buffer.data(), rows, columns, tile.stride,
                        out.data() + (row0 * matrix.columns + column0) * size, matrix.columns);
    }
  }
  return absl::OkStatus();
}

}  // namespace embd::formats
