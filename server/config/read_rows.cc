#include "server/config/read_rows.h"

#include <filesystem>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "server/config/read_optional.h"
#include "server/config/scalar_syntax.h"

namespace embd::config {
namespace {

// Rows are float32: far below its largest value, so that no drawn value can exceed it.
constexpr double kLargestMagnitude = 1e30;

/// Two integers of at least 1, in a list.
bool ReadShape(MapReader& table, RawLayout& out) {
  const Node& node = *table.Find("shape");
  const auto extent = [](const Node& item) {
    const bool is_number = item.kind == Node::Kind::kScalar && !item.quoted;
    return is_number ? ParseInteger(item.text).value_or(0) : 0;
  };
  if (node.kind == Node::Kind::kList && node.items.size() == 2) {
    out.rows = extent(*node.items[0]);
    out.columns = extent(*node.items[1]);
    if (out.rows >= 1 && out.columns >= 1) return true;
  }
  table.Report("shape",
               absl::StrCat("must be a list of two integers >= 1, the rows and their width, as in [320, 64], got ",
                            node.kind == Node::Kind::kList ? "another list" : Found(node)));
  return false;
}

std::optional<RawLayout> ReadLayout(MapReader& table) {
  constexpr std::array<absl::string_view, 4> kTypes = {"float32", "float16", "bfloat16", "float64"};
  const auto dtype = ReadOptionalEnum<StoredType>(table, "dtype", kTypes);
  RawLayout layout;
  table.ReadUnsigned("offset", layout.offset);
  if (!table.Has("dtype") && !table.Has("shape")) {
    if (table.Has("offset")) table.Report("offset", "needs dtype and shape");
    return std::nullopt;
  }
  if (!table.Has("dtype")) table.Report("shape", "needs dtype");
  if (!table.Has("shape")) table.Report("dtype", "needs shape");
  if (!dtype.has_value() || !table.Has("shape") || !ReadShape(table, layout)) return std::nullopt;
  layout.dtype = *dtype;
  return layout;
}

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
  constexpr std::array<absl::string_view, 3> kPolicies = {"allow", "warn", "reject"};
  file.raw = ReadLayout(table);
  file.mmap = ReadOptionalBool(table, "mmap");
  file.nan = ReadOptionalEnum<NanPolicy>(table, "nan", kPolicies);
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
