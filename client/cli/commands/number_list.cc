#include "client/cli/commands/number_list.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/files/tensor_file.h"

namespace embd::cli {
namespace {

absl::StatusOr<UnevenRows> ReadRows(const std::string& value, const Surroundings& world) {
  if (value.empty() || value.front() != '@') return ParseUnevenRows(value);
  const std::string path = value.substr(1);
  const absl::StatusOr<FileFormat> format = FormatOf(path, "", FileFormat::kJson);
  if (!format.ok()) return format.status();
  return ReadUnevenRows(path, *format, world.in);
}

}  // namespace

absl::StatusOr<UnevenRows> ReadNumberRows(const std::string& flag, const std::string& value,
                                          const Surroundings& world) {
  absl::StatusOr<UnevenRows> rows = ReadRows(value, world);
  if (!rows.ok()) return absl::InvalidArgumentError(absl::StrCat(flag, ": ", rows.status().message()));
  return rows;
}

absl::StatusOr<std::vector<std::int64_t>> ReadNumberList(const std::string& flag, const std::string& value,
                                                         const Surroundings& world) {
  absl::StatusOr<UnevenRows> rows = ReadNumberRows(flag, value, world);
  if (!rows.ok()) return rows.status();
  if (rows->lengths.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(flag, ": is one list, not ", rows->lengths.size(), " rows"));
  }
  return std::move(rows->values);
}

}  // namespace embd::cli
