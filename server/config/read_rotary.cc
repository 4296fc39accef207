#include "server/config/read_rotary.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace embd::config {
namespace {

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr NumberRange kPositive = {.min = 0.0, .max = kLargest, .above_min = true};
constexpr NumberRange kNotNegative = {.min = 0.0, .max = kLargest};

constexpr std::array<absl::string_view, 9> kTypes = {"default",  "linear", "ntk",    "dynamic",     "yarn",
                                                     "longrope", "su",     "llama3", "proportional"};

void ReadNumber(MapReader& map, absl::string_view key, NumberRange range, std::optional<double>& out) {
  double value = 1;
  map.ReadNumber(key, range, value);
  if (map.Has(key)) out = value;
}

void ReadInteger(MapReader& map, absl::string_view key, IntegerRange range, std::optional<std::int64_t>& out) {
  std::int64_t value = range.min;
  map.ReadInteger(key, range, value);
  if (map.Has(key)) out = value;
}

// Under either of two names.
void ReadType(MapReader& scaling, std::string& out) {
  for (const absl::string_view key : {"type", "rope_type"}) {
    if (!scaling.Has(key)) continue;
    std::string type;
    scaling.ReadString(key, type);
    if (std::find(kTypes.begin(), kTypes.end(), type) == kTypes.end()) {
      scaling.Report(key, absl::StrCat("must be one of ", absl::StrJoin(kTypes, ", "), ", got ", Quote(type)));
    } else if (!out.empty() && out != type) {
      scaling.Report(key, absl::StrCat("contradicts type ", Quote(out), ", got ", Quote(type)));
    }
    out = type;
  }
}

RotaryScalingConfig ReadScaling(MapReader& map) {
  RotaryScalingConfig scaling;
  ReadType(map, scaling.type);
  ReadNumber(map, "factor", kPositive, scaling.factor);
  ReadInteger(map, "original_max_position_embeddings", {}, scaling.original_max_position_embeddings);
  ReadInteger(map, "max_position_embeddings", {}, scaling.max_position_embeddings);
  ReadNumber(map, "low_freq_factor", kPositive, scaling.low_freq_factor);
  ReadNumber(map, "high_freq_factor", kPositive, scaling.high_freq_factor);
  ReadNumber(map, "beta_fast", kNotNegative, scaling.beta_fast);
  ReadNumber(map, "beta_slow", kNotNegative, scaling.beta_slow);
  ReadNumber(map, "attention_factor", kPositive, scaling.attention_factor);
  ReadNumber(map, "mscale", kNotNegative, scaling.mscale);
  ReadNumber(map, "mscale_all_dim", kNotNegative, scaling.mscale_all_dim);
  if (map.Has("truncate")) map.ReadBool("truncate", scaling.truncate.emplace(true));
  map.ReadNumbers("short_factor", kPositive, scaling.short_factor);
  map.ReadNumbers("long_factor", kPositive, scaling.long_factor);
  return scaling;
}

void CheckDims(MapReader& map, std::optional<std::int64_t> head_dim, std::optional<std::int64_t> rotary_dim) {
  if (head_dim.has_value() && !rotary_dim.has_value() && *head_dim % 2 != 0) {
    map.Report("head_dim", absl::StrCat("must be even, got ", *head_dim));
  }
  if (!rotary_dim.has_value()) return;
  if (*rotary_dim % 2 != 0) map.Report("rotary_dim", absl::StrCat("must be even, got ", *rotary_dim));
  if (head_dim.has_value() && *rotary_dim > *head_dim) {
    map.Report("rotary_dim", absl::StrCat("must be at most head_dim ", *head_dim, ", got ", *rotary_dim));
  }
}

// What stands in the map of all layers, and in that of one type.
template <typename Settings>
void ReadSettings(MapReader& map, Settings& settings) {
  ReadNumber(map, "theta", kPositive, settings.theta);
  ReadInteger(map, "head_dim", {.min = 2}, settings.head_dim);
  ReadInteger(map, "rotary_dim", {.min = 2}, settings.rotary_dim);
  if (map.Has("pairing")) {
    std::string pairing;
    map.ReadString("pairing", pairing);
    if (pairing != "half" && pairing != "interleaved") {
      map.Report("pairing", absl::StrCat("must be half or interleaved, got ", Quote(pairing)));
    }
    settings.interleaved = pairing == "interleaved";
  }
  if (auto scaling = map.ReadMap("scaling", Section::kRotaryScaling)) settings.scaling = ReadScaling(*scaling);
  CheckDims(map, settings.head_dim, settings.rotary_dim);
}

void ReadLayerTypes(MapReader& rotary, std::map<std::string, RotaryLayer>& out) {
  constexpr absl::string_view kKey = "layer_types";
  const Node* const node = rotary.Find(kKey);
  if (node == nullptr) return;
  if (node->kind != Node::Kind::kMap) {
    return rotary.Report(kKey, absl::StrCat("must be a map of maps by name, got ", Found(*node)));
  }
  for (const Node::Entry& entry : node->entries) {
    const std::string path = absl::StrCat(rotary.PathOf(kKey), ".", entry.key);
    if (entry.key.empty()) rotary.errors().Report(entry.line, rotary.PathOf(kKey), "a layer type must have a name");
    if (out.contains(entry.key)) rotary.errors().Report(entry.line, path, "given twice");
    MapReader layer(*entry.value, path, Section::kRotaryLayer, rotary.errors());
    ReadSettings(layer, out[entry.key]);
  }
}

}  // namespace

RotaryPositions ReadRotary(MapReader& rotary, std::int64_t token_width) {
  RotaryPositions positions;
  ReadSettings(rotary, positions);
  if (!positions.head_dim.has_value() && !positions.rotary_dim.has_value() && token_width % 2 != 0) {
    rotary.Report(absl::StrCat("embedding_dim must be even for rotary without head_dim, got ", token_width));
  }
  ReadLayerTypes(rotary, positions.layer_types);
  return positions;
}

}  // namespace embd::config
