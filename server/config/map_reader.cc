#include "server/config/map_reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "server/config/scalar_syntax.h"

namespace embd::config {
namespace {

constexpr std::int64_t kNoMaximum = std::numeric_limits<std::int64_t>::max();

std::string Describe(IntegerRange range) {
  if (range.max == kNoMaximum) return absl::StrCat("must be an integer >= ", range.min);
  return absl::StrCat("must be an integer from ", range.min, " to ", range.max);
}

std::string Describe(NumberRange range) {
  if (range.min == -range.max) return "must be a finite number";
  return absl::StrCat("must be a finite number ", range.above_min ? "> " : ">= ", range.min);
}

/// What is wrong with a node that is to be a number, or nothing.
std::optional<std::string> FaultOfNumber(const Node& node, NumberRange range) {
  const bool is_plain = node.kind == Node::Kind::kScalar && !node.quoted;
  const auto value = is_plain ? ParseNumber(node.text) : std::nullopt;
  const bool symmetric = range.min == -range.max;
  if (value.has_value() && (*value > range.max || (symmetric && *value < range.min))) {
    return absl::StrCat("must be ", symmetric ? "of a magnitude " : "", "at most ", range.max, ", got ", Found(node));
  }
  if (!value.has_value() || *value < range.min || (range.above_min && *value == range.min)) {
    return absl::StrCat(Describe(range), ", got ", Found(node));
  }
  return std::nullopt;
}

}  // namespace

std::string Found(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNothing: return "nothing";
    case Node::Kind::kList: return "a list";
    case Node::Kind::kMap: return "a map";
    case Node::Kind::kScalar: break;
  }
  return absl::StrCat(Quote(node.text), node.quoted ? " in quotes" : "");
}

MapReader::MapReader(const Node& node, std::string path, Section section, FirstError& errors)
    : node_(&node), path_(std::move(path)), errors_(&errors) {
  if (node.kind == Node::Kind::kMap) {
    CheckKeys(section);
  } else {
    Report(absl::StrCat("must be a map, got ", Found(node)));
  }
}

void MapReader::CheckKeys(Section section) {
  const auto allowed = KeysOf(section);
  std::map<absl::string_view, int> lines;
  for (const Node::Entry& entry : node_->entries) {
    if (std::find(allowed.begin(), allowed.end(), entry.key) == allowed.end()) {
      errors_->Report(entry.line, path_, UnknownKeyMessage(section, entry.key));
    } else if (const auto [first, fresh] = lines.emplace(entry.key, entry.line); !fresh) {
      errors_->Report(entry.line, PathOf(entry.key), absl::StrCat("given twice, first on line ", first->second));
    }
  }
}

const Node* MapReader::Find(absl::string_view key) const {
  const auto found = std::find_if(node_->entries.begin(), node_->entries.end(),
                                  [key](const Node::Entry& entry) { return entry.key == key; });
  return found == node_->entries.end() ? nullptr : found->value.get();
}

void MapReader::Require(absl::string_view key) {
  if (node_->kind == Node::Kind::kMap && !Has(key)) Report(absl::StrCat(key, " is missing"));
}

const Node* MapReader::FindScalar(absl::string_view key, absl::string_view expected) {
  const Node* node = Find(key);
  if (node == nullptr || node->kind == Node::Kind::kScalar) return node;
  Report(key, absl::StrCat(expected, ", got ", Found(*node)));
  return nullptr;
}

void MapReader::ReadString(absl::string_view key, std::string& out) {
  constexpr absl::string_view kExpected = "must be a string";
  const Node* node = FindScalar(key, kExpected);
  if (node == nullptr) return;
  if (node->text.empty() || absl::StrContains(node->text, '\0')) {
    return Report(key, absl::StrCat(kExpected, " that is not empty and without NUL, got ", Found(*node)));
  }
  out = node->text;
}

void MapReader::ReadInteger(absl::string_view key, IntegerRange range, std::int64_t& out) {
  const std::string expected = Describe(range);
  const Node* node = FindScalar(key, expected);
  if (node == nullptr) return;
  const auto value = node->quoted ? std::nullopt : ParseInteger(node->text);
  if (!value.has_value() || *value < range.min || *value > range.max) {
    return Report(key, absl::StrCat(expected, ", got ", Found(*node)));
  }
  out = *value;
}

void MapReader::ReadUnsigned(absl::string_view key, std::uint64_t& out) {
  constexpr absl::string_view kExpected = "must be an integer from 0 to 18446744073709551615";
  const Node* node = FindScalar(key, kExpected);
  if (node == nullptr) return;
  const auto value = node->quoted ? std::nullopt : ParseUnsigned(node->text);
  if (!value.has_value()) return Report(key, absl::StrCat(kExpected, ", got ", Found(*node)));
  out = *value;
}

void MapReader::ReadNumber(absl::string_view key, NumberRange range, double& out) {
  const Node* node = FindScalar(key, Describe(range));
  if (node == nullptr) return;
  if (const auto fault = FaultOfNumber(*node, range); fault.has_value()) return Report(key, *fault);
  out = *ParseNumber(node->text);
}

void MapReader::ReadNumbers(absl::string_view key, NumberRange range, std::vector<double>& out) {
  const Node* node = Find(key);
  if (node == nullptr) return;
  if (node->kind != Node::Kind::kList) {
    return Report(key, absl::StrCat("must be a list of numbers, got ", Found(*node)));
  }
  std::vector<double> numbers;
  for (std::size_t i = 0; i < node->items.size(); ++i) {
    const Node& item = *node->items[i];
    if (const auto fault = FaultOfNumber(item, range); fault.has_value()) {
      return errors_->Report(item.line, absl::StrCat(PathOf(key), "[", i, "]"), *fault);
    }
    numbers.push_back(*ParseNumber(item.text));
  }
  out = std::move(numbers);
}

void MapReader::ReadBool(absl::string_view key, bool& out) {
  constexpr absl::string_view kExpected = "must be true or false";
  const Node* node = FindScalar(key, kExpected);
  if (node == nullptr) return;
  if (node->quoted || (node->text != "true" && node->text != "false")) {
    return Report(key, absl::StrCat(kExpected, ", got ", Found(*node)));
  }
  out = node->text == "true";
}

void MapReader::ReadByteSize(absl::string_view key, std::int64_t max, std::int64_t& out) {
  const std::string expected = absl::StrCat("must be a byte size from 1 to ", max,
                                            ", such as 1048576, 64MiB or 1GB (KiB, MiB, GiB, KB, MB, GB)");
  const Node* node = FindScalar(key, expected);
  if (node == nullptr) return;
  const auto value = ParseByteSize(node->text);
  if (!value.has_value() || *value < 1 || *value > max) {
    return Report(key, absl::StrCat(expected, ", got ", Found(*node)));
  }
  out = *value;
}

void MapReader::ReadSeconds(absl::string_view key, NumberRange range, double& out) {
  const std::string expected =
      absl::StrCat("must be a duration from ", range.min, " to ", static_cast<std::int64_t>(range.max),
                   " seconds, such as 30, 500ms, 30s, 2m or 1h");
  const Node* node = FindScalar(key, expected);
  if (node == nullptr) return;
  const auto value = ParseSeconds(node->text);
  if (!value.has_value() || *value < range.min || *value > range.max) {
    return Report(key, absl::StrCat(expected, ", got ", Found(*node)));
  }
  out = *value;
}

std::optional<MapReader> MapReader::ReadMap(absl::string_view key, Section section) {
  const Node* node = Find(key);
  if (node == nullptr) return std::nullopt;
  return MapReader(*node, PathOf(key), section, *errors_);
}

void MapReader::Report(absl::string_view key, absl::string_view message) {
  errors_->Report(LineOf(key), PathOf(key), message);
}

void MapReader::Report(absl::string_view message) { errors_->Report(node_->line, path_, message); }

std::string MapReader::PathOf(absl::string_view key) const {
  return path_.empty() ? std::string(key) : absl::StrCat(path_, ".", key);
}

int MapReader::LineOf(absl::string_view key) const {
  const Node* node = Find(key);
  return node == nullptr ? node_->line : node->line;
}

}  // namespace embd::config
