#include "server/app/file_table.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/table/scan_nan.h"
#include "server/formats/load_table.h"

namespace embd::app {
namespace {

core::ElementType ToElementType(config::StoredType type) {
  switch (type) {
    case config::StoredType::kFloat32: return core::ElementType::kFloat32;
    case config::StoredType::kFloat16: return core::ElementType::kFloat16;
    case config::StoredType::kBFloat16: return core::ElementType::kBFloat16;
    case config::StoredType::kFloat64: return core::ElementType::kFloat64;
  }
  return core::ElementType::kFloat32;
}

std::optional<formats::RawLayout> ToLayout(const std::optional<config::RawLayout>& raw) {
  if (!raw.has_value()) return std::nullopt;
  return formats::RawLayout{
      .type = ToElementType(raw->dtype), .rows = raw->rows, .columns = raw->columns, .offset = raw->offset};
}

// The warning, empty where there is nothing to say.
absl::StatusOr<std::string> CheckNan(const config::TableFile& file, const core::NanScan& scan) {
  const config::NanPolicy policy = file.nan.value_or(config::NanPolicy::kWarn);
  if (policy == config::NanPolicy::kAllow) return "";
  if (scan.count == 0) return "";
  std::string message = absl::StrCat(file.path, ": the table holds ", scan.count, " NaN", scan.count == 1 ? "" : "s",
                                     ", the first one in row ", scan.row, ", column ", scan.column);
  if (policy == config::NanPolicy::kReject) return core::InvalidArgument("NAN_IN_TABLE", message);
  return message;
}

}  // namespace

absl::StatusOr<FileTable> LoadFileTable(const config::TableFile& file, TableShare* share) {
  auto loaded = formats::LoadTable(
      {.path = file.path,
       .tensor = file.tensor,
       .vocabulary = file.vocabulary,
       .reserve = [share](std::size_t bytes) { return share->Add(static_cast<std::int64_t>(bytes)); },
       .mmap = file.mmap.value_or(false),
       .layout = ToLayout(file.raw)});
  if (!loaded.ok()) return loaded.status();
  auto warning = CheckNan(file, loaded->nans);
  if (!warning.ok()) return warning.status();
  if (!warning->empty()) loaded->warnings.push_back(*std::move(warning));
  return FileTable{.table = {.table = std::move(loaded->table),
                             .source = core::ValidUtf8(file.path),
                             .trainable = true,
                             .checksum = std::move(loaded->checksum)},
                   .vocabulary = std::move(loaded->vocabulary),
                   .warnings = std::move(loaded->warnings)};
}

}  // namespace embd::app
