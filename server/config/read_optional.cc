#include "server/config/read_optional.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace embd::config {

std::optional<std::int64_t> ReadOptionalInteger(MapReader& map, absl::string_view key, IntegerRange range) {
  if (!map.Has(key)) return std::nullopt;
  std::int64_t value = range.min;
  map.ReadInteger(key, range, value);
  return value;
}

std::optional<double> ReadOptionalNumber(MapReader& map, absl::string_view key, NumberRange range) {
  if (!map.Has(key)) return std::nullopt;
  double value = range.min;
  map.ReadNumber(key, range, value);
  return value;
}

std::optional<bool> ReadOptionalBool(MapReader& map, absl::string_view key) {
  const Node* node = map.Find(key);
  if (node == nullptr) return std::nullopt;
  const bool is_word = node->kind == Node::Kind::kScalar && !node->quoted;
  if (is_word && node->text == "true") return true;
  if (!is_word || node->text != "false") map.Report(key, absl::StrCat("must be true or false, got ", Found(*node)));
  return false;
}

std::optional<std::size_t> ReadOptionalWord(MapReader& map, absl::string_view key,
                                            std::span<const absl::string_view> words) {
  const Node* node = map.Find(key);
  if (node == nullptr) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), node->text);
  if (node->kind == Node::Kind::kScalar && found != words.end()) {
    return static_cast<std::size_t>(found - words.begin());
  }
  map.Report(key, absl::StrCat("must be ", absl::StrJoin(words.first(words.size() - 1), ", "), " or ", words.back(),
                               ", got ", Found(*node)));
  return std::nullopt;
}

std::optional<MapReader> ReadMapOrNone(MapReader& map, absl::string_view key, Section section,
                                       absl::string_view contents) {
  const Node* node = map.Find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::kMap) return map.ReadMap(key, section);
  if (node->kind != Node::Kind::kScalar || node->text != "none") {
    map.Report(key, absl::StrCat("must be none, or a map of ", contents, ", got ", Found(*node)));
  }
  return std::nullopt;
}

}  // namespace embd::config
