#include "server/config/read_rows.h"

#include <filesystem>
#include <limits>

#include "absl/strings/str_cat.h"

namespace embd::config {
namespace {

// Rows are float32: far below its largest value, so that no drawn value can exceed it.
constexpr double kLargestMagnitude = 1e30;

}  // namespace

std::string InFolder(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).string();
}

TableFile ReadTableFile(MapReader& table, const std::string& folder, absl::string_view needed) {
  TableFile file;
  if (table.Has("file")) {
    table.ReadString("file", file.path);
    file.path = InFolder(folder, file.path);
  } else if (!needed.empty()) {
    table.Report(absl::StrCat(needed, " is missing"));
  }
  table.ReadString("tensor", file.tensor);
  if (table.Has("vocabulary")) {
    table.ReadString("vocabulary", file.vocabulary);
    file.vocabulary = InFolder(folder, file.vocabulary);
  }
  return file;
}

void ReadSeededRows(MapReader& seeded, SeededRows& rows) {
  seeded.ReadNumber("mean", {.min = -kLargestMagnitude, .max = kLargestMagnitude}, rows.mean);
  seeded.ReadNumber("std", {.min = 0.0, .max = kLargestMagnitude}, rows.std);
  seeded.ReadUnsigned("seed", rows.seed);
}

void CheckTableSize(MapReader& table, absl::string_view rows_key, std::int64_t rows, std::int64_t width) {
  constexpr std::int64_t kMaxElements = std::numeric_limits<std::int64_t>::max() / 4;
  if (rows < 1 || width < 1 || rows <= kMaxElements / width) return;
  table.Report(rows_key,
               absl::StrCat("must be at most ", kMaxElements / width, " with embedding_dim ", width, ", got ", rows));
}

}  // namespace embd::config
