// The peak of memory while a table is loaded, measured in a process of its own.
#include "gmock/gmock.h"

// Sanitizers keep memory of their own beside ours, so the numbers would mean nothing.
#ifndef EMBD_SANITIZED

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "server/formats/load_table.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/peak_growth.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

constexpr std::int64_t kRows = 65'536;
constexpr std::int64_t kDim = 256;
constexpr std::int64_t kTableBytes = kRows * kDim * 4;  // 64 MiB

// By how much loading the table raises the peak of resident memory; -1 if it does not load.
std::int64_t PeakGrowthOf(const TableRequest& request) {
  return PeakGrowth([&request] {
    const auto loaded = LoadTable(request);
    return loaded.ok() && loaded->table.rows() == kRows;
  });
}

MATCHER(IsOneTableAndAtMostATenthMore, "") {
  *result_listener << static_cast<double>(arg) / kTableBytes << " times the table";
  return arg >= kTableBytes * 9 / 10 && arg <= kTableBytes * 11 / 10;
}

MATCHER(IsOneTableAndAtMostAFifthMore, "") {
  *result_listener << static_cast<double>(arg) / kTableBytes << " times the table";
  return arg >= kTableBytes * 9 / 10 && arg <= kTableBytes * 12 / 10;
}

TEST(PeakMemory, NpyInCOrder) {
  const ScratchFolder folder;
  const std::string path = WriteSparse(
      folder, "t.npy", NpyFile(NpyDict("'<f4'", absl::StrCat("(", kRows, ", ", kDim, ")")), ""), kTableBytes);

  EXPECT_THAT(PeakGrowthOf({.path = path}), IsOneTableAndAtMostAFifthMore());
}

TEST(PeakMemory, NpyInFortranOrderAndBigEndian) {
  const ScratchFolder folder;
  const std::string path = WriteSparse(
      folder, "t.npy", NpyFile(NpyDict("'>f4'", absl::StrCat("(", kRows, ", ", kDim, ")"), true), ""), kTableBytes);

  EXPECT_THAT(PeakGrowthOf({.path = path}), IsOneTableAndAtMostAFifthMore());
}

TEST(PeakMemory, NpyOfFewLongColumns) {
  const ScratchFolder folder;
  const std::string path = WriteSparse(
      folder, "t.npy", NpyFile(NpyDict("'<f8'", absl::StrCat("(", kRows, ", ", kDim / 2, ")"), true), ""), kTableBytes);

  EXPECT_THAT(PeakGrowthOf({.path = path}), IsOneTableAndAtMostAFifthMore());
}

TEST(PeakMemory, SafetensorsBesideLargerTensors) {
  const ScratchFolder folder;
  const std::uint64_t bytes = kTableBytes;
  const std::string header =
      Header({Entry("before", "U8", absl::StrCat("[", 2 * bytes, "]"), 0, 2 * bytes),
              Entry("wte", "F32", absl::StrCat("[", kRows, ",", kDim, "]"), 2 * bytes, 3 * bytes),
              Entry("behind", "I64", absl::StrCat("[", bytes / 8, "]"), 3 * bytes, 4 * bytes)});
  const std::string path = WriteSparse(folder, "t.safetensors", SafetensorsFile(header, ""), 4 * kTableBytes);

  EXPECT_THAT(PeakGrowthOf({.path = path, .tensor = "wte"}), IsOneTableAndAtMostAFifthMore());
}

TEST(PeakMemory, BFloat16InSafetensors) {
  const ScratchFolder folder;
  const std::string header =
      Header({Entry("wte", "BF16", absl::StrCat("[", kRows, ",", 2 * kDim, "]"), 0, kTableBytes)});
  const std::string path = WriteSparse(folder, "t.safetensors", SafetensorsFile(header, ""), kTableBytes);

  EXPECT_THAT(PeakGrowthOf({.path = path}), IsOneTableAndAtMostATenthMore());
}

TEST(PeakMemory, QuantisedGguf) {
  const ScratchFolder folder;
  const std::string name = "token_embd.weight";
  std::string head = absl::StrCat("GGUF", LittleEndian(3, 4), LittleEndian(1, 8), LittleEndian(0, 8),
                                  LittleEndian(name.size(), 8), name, LittleEndian(2, 4), LittleEndian(kDim, 8),
                                  LittleEndian(kRows, 8), LittleEndian(14, 4), LittleEndian(0, 8));
  head.resize((head.size() + 31) / 32 * 32, '\0');
  const std::string path = WriteSparse(folder, "t.gguf", head, kRows * kDim / 256 * 210);

  EXPECT_THAT(PeakGrowthOf({.path = path}), IsOneTableAndAtMostATenthMore());
}

TEST(PeakMemory, TextWithItsWords) {
  const ScratchFolder folder;
  const std::string path = folder.Path("t.txt");
  {
    std::string numbers;
    for (std::int64_t i = 0; i < kDim; ++i) absl::StrAppend(&numbers, " 0.", i);
    std::ofstream file(path, std::ios::binary);
    for (std::int64_t row = 0; row < kRows; ++row) file << "word" << row << numbers << '\n';
  }

  EXPECT_THAT(PeakGrowthOf({.path = path}), IsOneTableAndAtMostAFifthMore());
}

}  // namespace
}  // namespace embd::formats

#endif
