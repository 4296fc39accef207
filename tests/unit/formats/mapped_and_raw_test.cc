// Tables that are mapped, and rows without a header.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/error.h"
#include "server/core/table/checksum.h"
#include "server/formats/load_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

using core::ElementType;

std::string Safetensors(const std::string& dtype, std::size_t padding) {
  const std::string header = Header({Entry("wte", dtype, "[2,2]", 0, dtype == "F32" ? 16 : 8)});
  return SafetensorsFile(header + std::string((8 - header.size() % 8) % 8 + padding, ' '),
                         dtype == "F32" ? Raw<float>({1, 2, 3, 4}) : Raw<std::uint16_t>({1, 2, 3, 4}));
}

class MappedTableTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
};

TEST_F(MappedTableTest, HoldsWhatTheReadOneHoldsAndReservesNothing) {
  std::string npy = NpyDict("'<f4'", "(2, 2)");
  npy.insert(npy.size() - 1, std::string((64 - (10 + npy.size()) % 64) % 64, ' '));
  const std::vector<TableRequest> requests = {{.path = folder_.Write("t.npy", NpyFile(npy, Raw<float>({1, 2, 3, 4})))},
                                              {.path = folder_.Write("t.safetensors", Safetensors("F32", 0))},
                                              {.path = folder_.Write("half.safetensors", Safetensors("BF16", 2))},
                                              {.path = folder_.Write("t.bin", Raw<double>({0, 1, 2, 3, 4})),
                                               .layout = RawLayout{ElementType::kFloat64, 2, 2, 8}}};
  for (TableRequest request : requests) {
    SCOPED_TRACE(request.path);
    ASSERT_OK_AND_ASSIGN(const LoadedTable read, LoadTable(request));
    request.mmap = true;
    request.reserve = [](std::size_t) { return core::Error(absl::StatusCode::kResourceExhausted, "ASKED", "asked"); };

    ASSERT_OK_AND_ASSIGN(const LoadedTable mapped, LoadTable(request));

    EXPECT_TRUE(mapped.table.mapped());
    EXPECT_FALSE(read.table.mapped());
    EXPECT_EQ(ElementBits<std::uint8_t>(mapped.table), ElementBits<std::uint8_t>(read.table));
    EXPECT_EQ(mapped.checksum, read.checksum);
    EXPECT_EQ(mapped.checksum, core::TableChecksum(read.table));
    EXPECT_EQ(mapped.nans.count, 0);
  }
}

TEST_F(MappedTableTest, RowsThatMustBeDecodedAreRefused) {
  const std::vector<std::pair<std::string, std::string>> files = {
      {folder_.Write("f.npy", NpyFile(NpyDict("'<f4'", "(1, 1)", true), Raw<float>({1}))), "Fortran order"},
      {folder_.Write("b.npy", NpyFile(NpyDict("'>f4'", "(1, 1)"), Raw<float>({1}))), "a big-endian array"},
      {folder_.Write("t.txt", "a 1\n"), "a text"}};
  for (const auto& [path, what] : files) {
    SCOPED_TRACE(path);
    EXPECT_THAT(
        LoadTable({.path = path, .mmap = true}),
        AllOf(StatusIs(absl::StatusCode::kInvalidArgument, absl::StrCat(path, ": mmap does not go with ", what,
                                                                        ", which is decoded; load it without mmap")),
              ReasonIs("CANNOT_MAP")));
  }
}

TEST_F(MappedTableTest, RowsBetweenElementsAreRefused) {
  const std::string path = folder_.Write("t.safetensors", Safetensors("F32", 2));

  EXPECT_THAT(LoadTable({.path = path, .mmap = true}),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             AllOf(HasSubstr("they do not begin at a multiple of 4 bytes, the size of a float32"),
                                   EndsWith("load them without mmap"))),
                    ReasonIs("CANNOT_MAP")));
  EXPECT_THAT(LoadTable({.path = path}), IsOk());
}

TEST_F(MappedTableTest, FileThatIsCutShortReadsAsZerosAndIsTold) {
  constexpr std::int64_t kRows = 4096;
  constexpr std::int64_t kDim = 64;
  const std::string path = folder_.Write("t.bin", Raw(std::vector<float>(kRows * kDim, 1)));
  ASSERT_OK_AND_ASSIGN(
      const LoadedTable loaded,
      LoadTable({.path = path, .mmap = true, .layout = RawLayout{ElementType::kFloat32, kRows, kDim}}));
  EXPECT_FALSE(loaded.table.damaged());

  std::filesystem::resize_file(path, kRows * kDim * 2);

  const std::vector<std::uint32_t> bits = ElementBits<std::uint32_t>(loaded.table);
  EXPECT_EQ(bits.front(), 0x3F800000u);
  EXPECT_EQ(bits.back(), 0u);
  EXPECT_TRUE(loaded.table.damaged());
}

TEST_F(MappedTableTest, FileThatIsCutShortBeforeItIsHashedIsInvalid) {
  constexpr std::int64_t kRows = 4096;
  const std::string path = folder_.Write("t.bin", std::string(kRows * 64, 'a'));
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path));

  std::filesystem::resize_file(path, kRows * 32);

  EXPECT_THAT(LoadRaw(file, {ElementType::kFloat32, kRows, 16}, {.mmap = true}),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, "the file has become shorter while it was read"),
                    ReasonIs("INVALID_FILE")));
}

// As `mv` and Hugging Face's downloads do it: the mapping holds on to the old file.
TEST_F(MappedTableTest, FileThatIsReplacedStaysAsItWas) {
  const std::string path = folder_.Write("t.bin", Raw<float>({1}));
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded,
                       LoadTable({.path = path, .mmap = true, .layout = RawLayout{ElementType::kFloat32, 1, 1}}));

  std::filesystem::rename(folder_.Write("new.bin", "xx"), path);

  EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({1}));
  EXPECT_FALSE(loaded.table.damaged());
}

class RawFileTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
};

TEST_F(RawFileTest, EveryTypeIsTaken) {
  const std::string path = folder_.Write("t.bin", std::string(48, 'a'));
  for (const auto& [type, columns] : std::vector<std::pair<ElementType, std::int64_t>>{{ElementType::kFloat32, 6},
                                                                                       {ElementType::kFloat16, 12},
                                                                                       {ElementType::kBFloat16, 12},
                                                                                       {ElementType::kFloat64, 3}}) {
    ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, LoadTable({.path = path, .layout = RawLayout{type, 2, columns}}));

    EXPECT_EQ(loaded.table.element_type(), type);
    EXPECT_EQ(loaded.table.dim(), columns);
    EXPECT_EQ(ElementBits<std::uint8_t>(loaded.table), std::vector<std::uint8_t>(48, 'a'));
  }
}

TEST_F(RawFileTest, OffsetPassesOverAHeader) {
  const std::string path = folder_.Write("t.bin", "xyz" + Raw<float>({1, 2}));

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded,
                       LoadTable({.path = path, .layout = RawLayout{ElementType::kFloat32, 2, 1, 3}}));

  EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({1, 2}));
}

TEST_F(RawFileTest, SizeMustMatchExactly) {
  const std::string path = folder_.Write("t.bin", std::string(24, 'a'));
  for (const RawLayout& layout : {RawLayout{ElementType::kFloat32, 2, 2}, RawLayout{ElementType::kFloat32, 7, 1},
                                  RawLayout{ElementType::kFloat32, 2, 3, 1}, RawLayout{ElementType::kFloat32, 2, 3, 25},
                                  RawLayout{ElementType::kFloat32, 2, 3, ~std::uint64_t{0}}}) {
    EXPECT_THAT(LoadTable({.path = path, .layout = layout}),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, EndsWith("the file has 24 in all")),
                      ReasonIs("INVALID_FILE")));
  }
  EXPECT_THAT(LoadTable({.path = path,
                         .layout = RawLayout{ElementType::kFloat32, std::int64_t{1} << 40, std::int64_t{1} << 40}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("exceeds 2^63 - 1 bytes")));
}

TEST_F(RawFileTest, LayoutWithoutRowsOrColumnsIsRefused) {
  const std::string path = folder_.Write("t.bin", "");
  for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 1}, {1, 0}, {-1, -1}}) {
    EXPECT_THAT(
        LoadTable({.path = path, .layout = RawLayout{ElementType::kFloat32, rows, columns}}),
        AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                       absl::StrCat(path, ": a table needs at least 1 row and 1 column, got ", rows, " x ", columns)),
              ReasonIs("INVALID_TABLE")));
  }
}

TEST_F(RawFileTest, LayoutMustBeGiven) {
  EXPECT_THAT(
      LoadTable({.path = folder_.Write("t.bin", "1234")}),
      AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                     HasSubstr("give dtype (float32, float16, bfloat16 or float64) and shape ([rows, columns])")),
            ReasonIs("LAYOUT_MISSING")));
}

TEST_F(RawFileTest, LayoutIsAnExpectationWhereTheFileHasItsOwn) {
  const std::string path = folder_.Write("t.npy", NpyFile(NpyDict("'<f4'", "(2, 1)"), Raw<float>({1, 2})));

  EXPECT_THAT(LoadTable({.path = path, .layout = RawLayout{ElementType::kFloat32, 2, 1}}), IsOk());
  EXPECT_THAT(LoadTable({.path = path, .layout = RawLayout{ElementType::kFloat16, 12, 1}}),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition,
                             path + ": the file holds 2 x 1 float32, the configuration says 12 x 1 float16"),
                    ReasonIs("LAYOUT_MISMATCH")));
}

TEST_F(RawFileTest, NansAreFoundReadOrMapped) {
  constexpr std::int64_t kRows = 40'000;
  std::vector<std::uint16_t> values(kRows * 64, 0x3F80);
  values[39'999 * 64 + 63] = 0x7FC0;
  values[30'000 * 64 + 5] = 0xFFC1;
  const std::string path = folder_.Write("t.bin", Raw(values));
  for (const bool mmap : {false, true}) {
    ASSERT_OK_AND_ASSIGN(
        const LoadedTable loaded,
        LoadTable({.path = path, .mmap = mmap, .layout = RawLayout{ElementType::kBFloat16, kRows, 64}}));

    EXPECT_EQ(loaded.nans.count, 2);
    EXPECT_EQ(loaded.nans.row, 30'000);
    EXPECT_EQ(loaded.nans.column, 5);
  }
}

// Large enough for the second thread, and not a multiple of what is read at once.
TEST_F(RawFileTest, ChecksumOfALargeFileIsThatOfItsRows) {
  std::vector<float> values(2'500'001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const std::string path = folder_.Write("t.bin", Raw(values));

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded,
                       LoadTable({.path = path, .layout = RawLayout{ElementType::kFloat32, 2'500'001, 1}}));

  EXPECT_EQ(loaded.checksum, core::Sha256Hex(std::as_bytes(std::span(values))));
  EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits(values));
}

}  // namespace
}  // namespace embd::formats
