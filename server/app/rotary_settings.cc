#include "server/app/rotary_settings.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/position/rotary.h"

namespace embd::app {
namespace {

core::RotaryScaling ToScaling(const config::RotaryScalingConfig& scaling) {
  return {.type = scaling.type,
          .factor = scaling.factor,
          .original_max_position_embeddings = scaling.original_max_position_embeddings,
          .low_freq_factor = scaling.low_freq_factor,
          .high_freq_factor = scaling.high_freq_factor,
          .beta_fast = scaling.beta_fast,
          .beta_slow = scaling.beta_slow,
          .attention_factor = scaling.attention_factor,
          .mscale = scaling.mscale,
          .mscale_all_dim = scaling.mscale_all_dim,
          .truncate = scaling.truncate,
          .max_position_embeddings = scaling.max_position_embeddings,
          .short_factor = scaling.short_factor,
          .long_factor = scaling.long_factor};
}

// What is set, for all layers or for one type, goes before `parameters`.
template <typename Settings>
core::RotaryParameters Override(const Settings& settings, core::RotaryParameters parameters) {
  if (settings.head_dim.has_value()) parameters.head_dim = *settings.head_dim;
  if (settings.rotary_dim.has_value()) parameters.rotary_dim = settings.rotary_dim;
  if (settings.theta.has_value()) parameters.theta = *settings.theta;
  if (settings.interleaved.has_value()) {
    parameters.pairing = *settings.interleaved ? core::RotaryPairing::kInterleaved : core::RotaryPairing::kHalf;
  }
  if (settings.scaling.has_value()) parameters.scaling = ToScaling(*settings.scaling);
  return parameters;
}

absl::Status Check(const core::RotaryParameters& parameters, const std::string& where,
                   std::vector<std::string>* warnings) {
  const absl::Status status = core::ResolveRotary(parameters, 1).status();
  if (!status.ok()) {
    return core::Error(status.code(), core::ErrorReason(status), absl::StrCat(where, ": ", status.message()));
  }
  for (const std::string& field : core::UnusedFields(parameters.scaling)) {
    warnings->push_back(absl::StrCat(where, ": scaling of type ",
                                     parameters.scaling.type.empty() ? "default" : parameters.scaling.type,
                                     " does not take ", field, "; it is ignored"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddRotary(const config::RotaryPositions& rotary, std::int64_t token_width, core::ModelParts* parts,
                       std::vector<std::string>* warnings) {
  const core::RotaryParameters all = Override(rotary, {.head_dim = token_width});
  if (absl::Status status = Check(all, "position.rotary", warnings); !status.ok()) return status;
  for (const auto& [name, settings] : rotary.layer_types) {
    core::RotaryParameters parameters = Override(settings, all);
    const std::string where = absl::StrCat("position.rotary.layer_types.", name);
    if (absl::Status status = Check(parameters, where, warnings); !status.ok()) return status;
    parts->rotary_layer_types.emplace(name, std::move(parameters));
  }
  parts->position_encoding = core::PositionEncoding::kRotary;
  parts->rotary = all;
  return absl::OkStatus();
}

}  // namespace embd::app
