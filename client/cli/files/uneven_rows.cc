#include "client/cli/files/uneven_rows.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/files/parse_json.h"
#include "client/cli/files/row_text.h"

namespace embd::cli {
namespace {

using Json = nlohmann::json;

// Whether `value` is a list of whole numbers of 64 bits, which are appended.
bool AppendList(const Json& value, UnevenRows& rows) {
  if (!value.is_array()) return false;
  for (const Json& element : value) {
    if (!element.is_number_integer()) return false;
    if (element.is_number_unsigned() &&
        element.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return false;
    }
    rows.values.push_back(element.get<std::int64_t>());
  }
  rows.lengths.push_back(static_cast<std::int64_t>(value.size()));
  return true;
}

absl::Status NoLists() { return absl::InvalidArgumentError("no list of lists of whole numbers of 64 bits"); }

}  // namespace

absl::StatusOr<UnevenRows> ParseUnevenRows(absl::string_view text) {
  UnevenRows rows;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    absl::string_view left = absl::StripAsciiWhitespace(line);
    if (left.empty() || left.front() == '#') continue;
    if (left.back() == ';') left.remove_suffix(1);
    for (const absl::string_view row : absl::StrSplit(left, ';')) {
      rows.lengths.push_back(0);
      if (absl::StripAsciiWhitespace(row).empty()) continue;
      const absl::StatusOr<Tensor> values = ParseRows(row, DataType::kInt64);
      if (!values.ok()) {  // it counts rows from 0 again
        absl::string_view what = values.status().message();
        if (what.substr(0, 7) == "row 0: ") what.remove_prefix(7);
        return absl::InvalidArgumentError(absl::StrCat("row ", rows.lengths.size() - 1, ": ", what));
      }
      const std::size_t count = values->view().size();
      rows.lengths.back() = static_cast<std::int64_t>(count);
      rows.values.resize(rows.values.size() + count);
      std::memcpy(&*(rows.values.end() - rows.lengths.back()), values->bytes.data(), values->bytes.size());
    }
  }
  if (rows.lengths.empty()) return absl::InvalidArgumentError("no numbers found");
  return rows;
}

absl::StatusOr<UnevenRows> ParseUnevenJson(absl::string_view text) {
  const Json value = ParseJson(text);
  UnevenRows rows;
  if (!value.is_array()) return NoLists();
  const bool one_row = !value.empty() && !value.front().is_array();
  const auto append = [&rows](const Json& row) { return AppendList(row, rows); };
  if (!(one_row ? append(value) : std::all_of(value.begin(), value.end(), append))) return NoLists();
  return rows;
}

absl::StatusOr<UnevenRows> ParseUnevenJsonLines(absl::string_view text) {
  UnevenRows rows;
  std::int64_t line_number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (absl::StripAsciiWhitespace(line).empty()) continue;
    if (!AppendList(ParseJson(line), rows)) {
      return absl::InvalidArgumentError(absl::StrCat("line ", line_number, ": no list of whole numbers of 64 bits"));
    }
  }
  if (rows.lengths.empty()) return absl::InvalidArgumentError("no lists found");
  return rows;
}

}  // namespace embd::cli
