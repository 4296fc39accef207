#include "server/formats/column_major.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

// Element (row, column) has the bytes 1 + (row * columns + column) * size + i, little-endian from i = 0 on, modulo 251.
std::string ElementBytes(std::size_t row, std::size_t column, std::size_t columns, std::size_t size, bool big_endian) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) {
    bytes += static_cast<char>((1 + (row * columns + column) * size + i) % 251);
  }
  return big_endian ? std::string(bytes.rbegin(), bytes.rend()) : bytes;
}

std::string ColumnMajorBytes(std::size_t rows, std::size_t columns, std::size_t size, bool big_endian) {
  std::string bytes;
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) bytes += ElementBytes(row, column, columns, size, big_endian);
  }
  return bytes;
}

std::string RowMajorBytes(std::size_t rows, std::size_t columns, std::size_t size) {
  std::string bytes;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) bytes += ElementBytes(row, column, columns, size, false);
  }
  return bytes;
}

// Tiles cut a matrix differently as the buffer grows: one element, parts of columns, whole columns, all of it.
TEST(ReadColumnMajor, GivesTheSameRowsForEveryShapeTypeAndBuffer) {
  const ScratchFolder folder;
  for (const auto& [rows, columns] : std::vector<std::pair<std::size_t, std::size_t>>{
           {1, 1}, {1, 70}, {70, 1}, {3, 5}, {33, 17}, {64, 65}, {100, 7}}) {
    for (const std::size_t size : {2u, 4u, 8u}) {
      for (const bool big_endian : {false, true}) {
        const std::string path =
            folder.Write("matrix", absl::StrCat("skip", ColumnMajorBytes(rows, columns, size, big_endian)));
        ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path));
        for (const std::size_t buffer_bytes : {1u, 40u, 128u, 600u, 3000u, 1u << 20}) {
          SCOPED_TRACE(absl::StrCat(rows, " x ", columns, " of ", size, " big=", big_endian, " buffer=", buffer_bytes));
          std::string out(rows * columns * size, '\0');

          ASSERT_THAT(
              ReadColumnMajor(
                  file, {.offset = 4, .rows = rows, .columns = columns, .element_size = size, .big_endian = big_endian},
                  buffer_bytes, std::as_writable_bytes(std::span(out))),
              testing::IsOk());

          ASSERT_TRUE(out == RowMajorBytes(rows, columns, size));
        }
      }
    }
  }
}

TEST(ReadColumnMajor, CutsColumnsThatAreLongerThanTheBuffer) {
  constexpr std::size_t kRows = 10'007;
  constexpr std::size_t kColumns = 5;
  const ScratchFolder folder;
  const std::string path = folder.Write("matrix", ColumnMajorBytes(kRows, kColumns, 4, false));
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path));
  std::string out(kRows * kColumns * 4, '\0');

  ASSERT_THAT(
      ReadColumnMajor(file, {.offset = 0, .rows = kRows, .columns = kColumns, .element_size = 4, .big_endian = false},
                      /*buffer_bytes=*/50'000, std::as_writable_bytes(std::span(out))),
      testing::IsOk());

  EXPECT_TRUE(out == RowMajorBytes(kRows, kColumns, 4));
}

TEST(ReadColumnMajor, FileThatIsTooShortIsAnError) {
  const ScratchFolder folder;
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(folder.Write("matrix", "1234567")));
  std::string out(8, '\0');

  EXPECT_THAT(ReadColumnMajor(file, {.offset = 0, .rows = 2, .columns = 1, .element_size = 4, .big_endian = false}, 64,
                              std::as_writable_bytes(std::span(out))),
              testing::StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("byte 7")));
}

}  // namespace
}  // namespace embd::formats
