#include "server/architectures/rotary_scaling.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "server/core/error.h"

namespace embd::architectures {
namespace {

using Fields = std::span<const absl::string_view>;

constexpr absl::string_view kOriginal = "original_max_position_embeddings";

constexpr std::array<absl::string_view, 1> kFactor = {"factor"};
constexpr std::array<absl::string_view, 2> kFactorLists = {"short_factor", "long_factor"};
constexpr std::array<absl::string_view, 4> kLlama3Needs = {"factor", "low_freq_factor", "high_freq_factor", kOriginal};
constexpr std::array<absl::string_view, 7> kYarnTakes = {kOriginal, "attention_factor", "beta_fast", "beta_slow",
                                                         "mscale",  "mscale_all_dim",   "truncate"};
constexpr std::array<absl::string_view, 3> kLongRopeTakes = {"factor", kOriginal, "attention_factor"};

/// A type of scaling and the keys it is read from.
struct ScalingType {
  absl::string_view name;
  Fields needs;
  Fields takes;                   ///< besides
  bool takes_max_length = false;  ///< the length trained for
};

constexpr std::array<ScalingType, 7> kTypes = {{
    {"linear", kFactor, {}},
    {"ntk", kFactor, {}},
    {"dynamic", kFactor, {}, true},
    {"yarn", kFactor, kYarnTakes, true},
    {"longrope", kFactorLists, kLongRopeTakes, true},
    {"llama3", kLlama3Needs, {}},
    {"proportional", {}, kFactor},
}};

bool Holds(Fields fields, absl::string_view name) {
  return std::find(fields.begin(), fields.end(), name) != fields.end();
}

/// Reads one block, once its type is known.
class BlockReader {
 public:
  BlockReader(const Settings& block, const ScalingType& type, std::string key, InferredValues* found)
      : block_(block), type_(type), key_(std::move(key)), found_(found) {}

  [[nodiscard]] std::optional<double> Number(absl::string_view name) {
    if (!Takes(name)) return std::nullopt;
    return Kept(name, block_.Number(name));
  }
  [[nodiscard]] std::optional<bool> Flag(absl::string_view name) {
    if (!Takes(name)) return std::nullopt;
    const auto flag = block_.Flag(name);
    if (flag.has_value()) found_->Add(KeyOf(name), flag->value ? "true" : "false", flag->source);
    return flag.has_value() ? std::optional<bool>(flag->value) : std::nullopt;
  }
  [[nodiscard]] std::vector<double> Numbers(absl::string_view name) {
    if (!Takes(name)) return {};
    std::vector<double> numbers = block_.Numbers(name);
    found_->Add(KeyOf(name), absl::StrCat("[", absl::StrJoin(numbers, ", "), "]"), block_.Place(name));
    return numbers;
  }
  [[nodiscard]] bool Takes(absl::string_view name) const {
    return Holds(type_.needs, name) || Holds(type_.takes, name);
  }
  template <typename T>
  std::optional<T> Kept(absl::string_view name, const std::optional<Sourced<T>>& value) {
    if (!value.has_value()) return std::nullopt;
    found_->Add(KeyOf(name), value->value, value->source);
    return value->value;
  }

 private:
  [[nodiscard]] std::string KeyOf(absl::string_view name) const { return absl::StrCat(key_, ".", name); }

  const Settings& block_;
  const ScalingType& type_;
  std::string key_;
  InferredValues* found_;
};

// Phi-3 keeps it beside the block, and there it weighs more.
std::optional<Sourced<std::int64_t>> OriginalLength(const Settings& block, const Settings& settings,
                                                    const RotaryKeys& keys) {
  auto length = settings.Integer(kOriginal);
  if (!length.has_value()) length = block.Integer(kOriginal);
  if (!length.has_value() && keys.original_length > 0)
    return Sourced<std::int64_t>{keys.original_length, kClassDefault};
  return length;
}

const ScalingType* TypeOf(const Settings& block, const RotaryKeys& keys, Fault* fault) {
  const absl::string_view key = block.Has("rope_type") ? "rope_type" : "type";
  const auto text = block.Text(key);
  std::string name = text.has_value() ? text->value : "default";
  if (name == "su" || (name == "yarn" && keys.yarn_is_longrope)) name = "longrope";
  if (name == "default") return nullptr;
  for (const ScalingType& type : kTypes) {
    if (type.name == name) return &type;
  }
  const std::string known =
      absl::StrJoin(kTypes, ", ", [](std::string* out, const ScalingType& type) { absl::StrAppend(out, type.name); });
  fault->Report(core::Error(absl::StatusCode::kUnimplemented, "UNSUPPORTED_ARCHITECTURE",
                            absl::StrCat(block.Place(key), ": ", core::Quote(name), " is not served; default, ", known,
                                         " are; say what is meant as position: { rotary: { scaling: { type: … } } }")));
  return nullptr;
}

void CheckNeeds(const Settings& block, const Settings& settings, const ScalingType& type, Fault* fault) {
  for (const absl::string_view name : type.needs) {
    const bool beside = name == kOriginal && settings.Has(name);
    if (block.Has(name) || beside) continue;
    fault->Report(core::InvalidArgument("INVALID_FILE", absl::StrCat(block.Place(name), " is missing; rope_type ",
                                                                     core::Quote(type.name), " needs it")));
  }
}

void NoteUnused(const Settings& block, const BlockReader& reader, InferredValues* found) {
  constexpr std::array<absl::string_view, 4> kNotScaling = {"type", "rope_type", "rope_theta", "partial_rotary_factor"};
  for (const std::string& name : block.KeyNames()) {
    if (!block.Has(name) || reader.Takes(name) || Holds(kNotScaling, name)) continue;
    found->Note(absl::StrCat(block.Source(name), " is not used by this type of rotary scaling"));
  }
}

}  // namespace

std::optional<config::RotaryScalingConfig> ReadRotaryScaling(const Settings& block, const Settings& settings,
                                                             const RotaryKeys& keys, const RotaryFacts& facts,
                                                             const std::string& key, InferredValues* found,
                                                             Fault* fault) {
  const ScalingType* const type = TypeOf(block, keys, fault);
  if (type == nullptr) return std::nullopt;
  CheckNeeds(block, settings, *type, fault);
  BlockReader reader(block, *type, key, found);
  found->Add(absl::StrCat(key, ".type"), type->name, block.Source(block.Has("rope_type") ? "rope_type" : "type"));
  config::RotaryScalingConfig scaling{.type = std::string(type->name)};
  scaling.factor = reader.Number("factor");
  if (reader.Takes(kOriginal)) {
    scaling.original_max_position_embeddings = reader.Kept(kOriginal, OriginalLength(block, settings, keys));
  }
  scaling.low_freq_factor = reader.Number("low_freq_factor");
  scaling.high_freq_factor = reader.Number("high_freq_factor");
  scaling.beta_fast = reader.Number("beta_fast");
  scaling.beta_slow = reader.Number("beta_slow");
  scaling.attention_factor = reader.Number("attention_factor");
  scaling.mscale = reader.Number("mscale");
  scaling.mscale_all_dim = reader.Number("mscale_all_dim");
  scaling.truncate = reader.Flag("truncate");
  if (type->takes_max_length) {
    scaling.max_position_embeddings =
        reader.Kept("max_position_embeddings", std::optional(facts.max_position_embeddings));
  }
  scaling.short_factor = reader.Numbers("short_factor");
  scaling.long_factor = reader.Numbers("long_factor");
  NoteUnused(block, reader, found);
  return scaling;
}

}  // namespace embd::architectures
