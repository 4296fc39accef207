#include "server/architectures/rotary_settings.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/architectures/rotary_scaling.h"
#include "server/core/error.h"

namespace embd::architectures {
namespace {

/// Where values are read from: the object for rotary encodings, if there is one, and the level above it.
struct Place {
  const Settings& settings;
  std::optional<Settings> block;
};

// `rope_scaling` is what files had before `rope_parameters`; where both stand the libraries take it.
std::optional<Settings> Block(const Settings& settings) {
  auto scaling = settings.Object("rope_scaling");
  if (scaling.has_value() && !scaling->KeyNames().empty()) return scaling;
  auto parameters = settings.Object("rope_parameters");
  if (parameters.has_value() && !parameters->KeyNames().empty()) return parameters;
  return std::nullopt;
}

bool HasOneEntryALayerType(const Settings& block) {
  const auto names = block.KeyNames();
  return !names.empty() &&
         std::all_of(names.begin(), names.end(), [&](const std::string& name) { return block.HasObject(name); });
}

Sourced<double> NumberOf(const Place& place, absl::string_view block_key, absl::string_view key, double fallback,
                         const std::string& architecture) {
  if (key.empty()) return {fallback, architecture};
  if (place.block.has_value()) {
    if (auto number = place.block->Number(block_key)) return *std::move(number);
  }
  return place.settings.NumberOr({key}, fallback);
}

// The leading components that are turned: as the libraries do, the product is cut, not rounded.
std::int64_t RotaryDim(const Sourced<double>& partial, const RotaryFacts& facts, Fault* fault) {
  constexpr std::int64_t kMostHeadDim = std::int64_t{1} << 20;
  const double product = static_cast<double>(facts.head_dim.value) * partial.value;
  const bool in_range = facts.head_dim.value <= kMostHeadDim && partial.value > 0 && partial.value <= 1;
  const auto dim = in_range ? static_cast<std::int64_t>(product) : 0;
  if (dim >= 2 && dim % 2 == 0) return dim;
  fault->Report(core::InvalidArgument(
      "INVALID_FILE",
      absl::StrCat("rotary_dim must be even and from 2 to head_dim, which is at most 1048576: head_dim is ",
                   facts.head_dim.value, " (", facts.head_dim.source, "), the share that is turned ", partial.value,
                   " (", partial.source, ")")));
  return 2;
}

config::RotaryLayer ReadOne(const Place& place, const RotaryKeys& keys, const RotaryFacts& facts, InferredValues* found,
                            Fault* fault) {
  const auto theta = NumberOf(place, "rope_theta", keys.theta_key, keys.theta, facts.architecture);
  const auto partial = NumberOf(place, "partial_rotary_factor", keys.partial_key, keys.partial, facts.architecture);
  config::RotaryLayer rotary;
  rotary.head_dim = facts.head_dim.value;
  rotary.rotary_dim = RotaryDim(partial, facts, fault);
  rotary.theta = theta.value;
  rotary.interleaved = keys.interleaved;
  found->Add(absl::StrCat(facts.key, ".head_dim"), facts.head_dim.value, facts.head_dim.source);
  found->Add(absl::StrCat(facts.key, ".rotary_dim"), *rotary.rotary_dim, partial.source);
  found->Add(absl::StrCat(facts.key, ".theta"), theta.value, theta.source);
  found->Add(absl::StrCat(facts.key, ".pairing"), keys.interleaved ? "interleaved" : "half", facts.architecture);
  if (place.block.has_value() && !facts.skip_scaling) {
    rotary.scaling =
        ReadRotaryScaling(*place.block, place.settings, keys, facts, absl::StrCat(facts.key, ".scaling"), found, fault);
  }
  return rotary;
}

config::RotaryPositions OfAllLayers(const config::RotaryLayer& layers) {
  return {.head_dim = layers.head_dim,
          .rotary_dim = layers.rotary_dim,
          .theta = layers.theta,
          .interleaved = layers.interleaved,
          .scaling = layers.scaling,
          .layer_types = {}};
}

RotaryFacts ForLayerType(const RotaryFacts& facts, const std::string& layer_type) {
  RotaryFacts of_layers = facts;
  absl::StrAppend(&of_layers.key, ".layer_types.", KeyText(layer_type));
  return of_layers;
}

// Layers without scaling say so, lest they take over that of the model.
void SayDefault(const config::RotaryPositions& model, config::RotaryLayer* layers) {
  if (model.scaling.has_value() && !layers->scaling.has_value())
    layers->scaling = config::RotaryScalingConfig{"default"};
}

void ReportMissingLayerType(const Settings& block, absl::string_view name, Fault* fault) {
  fault->Report(core::InvalidArgument(
      "INVALID_FILE", absl::StrCat(block.Place(name), " is missing: there must be an object for each type of layers")));
}

}  // namespace

config::RotaryPositions ReadRotary(const Settings& settings, const RotaryKeys& keys, const RotaryFacts& facts,
                                   InferredValues* found, Fault* fault) {
  const auto block = Block(settings);
  if (!block.has_value() || !HasOneEntryALayerType(*block)) {
    return OfAllLayers(ReadOne({settings, block}, keys, facts, found, fault));
  }
  if (!block->HasObject("full_attention")) ReportMissingLayerType(*block, "full_attention", fault);
  auto model = OfAllLayers(ReadOne({settings, block->Object("full_attention")}, keys, facts, found, fault));
  for (const std::string& name : block->KeyNames()) {
    config::RotaryLayer& layers = model.layer_types[name];
    layers = ReadOne({settings, block->Object(name)}, keys, ForLayerType(facts, name), found, fault);
    SayDefault(model, &layers);
  }
  return model;
}

config::RotaryPositions ReadLayeredRotary(const Settings& settings, const RotaryKeys& full, const RotaryKeys& sliding,
                                          bool scaling_on_sliding, const RotaryFacts& facts, InferredValues* found,
                                          Fault* fault) {
  const auto block = Block(settings);
  auto of_full = block;
  auto of_sliding = scaling_on_sliding ? block : std::nullopt;
  if (block.has_value() && HasOneEntryALayerType(*block)) {
    for (const absl::string_view name : {"full_attention", "sliding_attention"}) {
      if (!block->HasObject(name)) ReportMissingLayerType(*block, name, fault);
    }
    of_full = block->Object("full_attention");
    of_sliding = block->Object("sliding_attention");
  }
  auto model = OfAllLayers(ReadOne({settings, of_full}, full, facts, found, fault));
  model.layer_types["full_attention"] =
      ReadOne({settings, of_full}, full, ForLayerType(facts, "full_attention"), found, fault);
  config::RotaryLayer& sliding_layers = model.layer_types["sliding_attention"];
  sliding_layers = ReadOne({settings, of_sliding}, sliding, ForLayerType(facts, "sliding_attention"), found, fault);
  SayDefault(model, &sliding_layers);
  return model;
}

}  // namespace embd::architectures
