#include "server/service/rotary_parameters.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/service/output_type.h"

namespace embd::service {
namespace {

core::RotaryScaling ToScaling(const v1::RotaryScaling& given) {
  core::RotaryScaling scaling{.type = given.type(),
                              .short_factor = {given.short_factor().begin(), given.short_factor().end()},
                              .long_factor = {given.long_factor().begin(), given.long_factor().end()}};
  if (given.has_factor()) scaling.factor = given.factor();
  if (given.has_original_max_position_embeddings()) {
    scaling.original_max_position_embeddings = given.original_max_position_embeddings();
  }
  if (given.has_low_freq_factor()) scaling.low_freq_factor = given.low_freq_factor();
  if (given.has_high_freq_factor()) scaling.high_freq_factor = given.high_freq_factor();
  if (given.has_beta_fast()) scaling.beta_fast = given.beta_fast();
  if (given.has_beta_slow()) scaling.beta_slow = given.beta_slow();
  if (given.has_attention_factor()) scaling.attention_factor = given.attention_factor();
  if (given.has_mscale()) scaling.mscale = given.mscale();
  if (given.has_mscale_all_dim()) scaling.mscale_all_dim = given.mscale_all_dim();
  if (given.has_truncate()) scaling.truncate = given.truncate();
  if (given.has_max_position_embeddings()) scaling.max_position_embeddings = given.max_position_embeddings();
  return scaling;
}

v1::RotaryScaling ToMessage(const core::RotaryScaling& scaling) {
  v1::RotaryScaling message;
  message.set_type(scaling.type);
  if (scaling.factor) message.set_factor(*scaling.factor);
  if (scaling.original_max_position_embeddings) {
    message.set_original_max_position_embeddings(*scaling.original_max_position_embeddings);
  }
  if (scaling.low_freq_factor) message.set_low_freq_factor(*scaling.low_freq_factor);
  if (scaling.high_freq_factor) message.set_high_freq_factor(*scaling.high_freq_factor);
  if (scaling.beta_fast) message.set_beta_fast(*scaling.beta_fast);
  if (scaling.beta_slow) message.set_beta_slow(*scaling.beta_slow);
  if (scaling.attention_factor) message.set_attention_factor(*scaling.attention_factor);
  if (scaling.mscale) message.set_mscale(*scaling.mscale);
  if (scaling.mscale_all_dim) message.set_mscale_all_dim(*scaling.mscale_all_dim);
  if (scaling.truncate) message.set_truncate(*scaling.truncate);
  if (scaling.max_position_embeddings) message.set_max_position_embeddings(*scaling.max_position_embeddings);
  message.mutable_short_factor()->Assign(scaling.short_factor.begin(), scaling.short_factor.end());
  message.mutable_long_factor()->Assign(scaling.long_factor.begin(), scaling.long_factor.end());
  return message;
}

absl::Status Override(const v1::RotaryParameters& given, core::RotaryParameters* parameters) {
  switch (given.pairing()) {
    case v1::ROTARY_PAIRING_UNSPECIFIED: break;
    case v1::ROTARY_PAIRING_HALF: parameters->pairing = core::RotaryPairing::kHalf; break;
    case v1::ROTARY_PAIRING_INTERLEAVED: parameters->pairing = core::RotaryPairing::kInterleaved; break;
    default: return UnknownEnum("parameters.pairing", given.pairing(), "HALF, INTERLEAVED");
  }
  if (given.head_dim() != 0) parameters->head_dim = given.head_dim();
  if (given.has_rotary_dim()) parameters->rotary_dim = given.rotary_dim();
  if (given.has_theta()) parameters->theta = given.theta();
  if (given.has_scaling()) parameters->scaling = ToScaling(given.scaling());
  return absl::OkStatus();
}

// The model's parameters for layers of that type.
absl::StatusOr<core::RotaryParameters> OfModel(const core::Model& model, const std::string& layer_type,
                                               bool parameters_given) {
  if (!layer_type.empty()) {
    const auto& types = model.rotary_layer_types();
    const auto found = types.find(layer_type);
    if (found != types.end()) return found->second;
    const std::string known = absl::StrJoin(
        types, ", ", [](std::string* out, const auto& entry) { absl::StrAppend(out, core::Quote(entry.first)); });
    return core::InvalidArgument("INVALID_OPTION",
                                 absl::StrCat("model ", core::Quote(model.name()), " has no layer_type ",
                                              core::Quote(layer_type), "; it has ", known.empty() ? "none" : known));
  }
  if (model.rotary().has_value()) return *model.rotary();
  if (parameters_given) return core::RotaryParameters{};
  return core::Error(
      absl::StatusCode::kFailedPrecondition, "NO_ROTARY",
      absl::StrCat("model ", core::Quote(model.name()), " has no rotary encoding; its position encoding is ",
                   core::PositionEncodingName(model.position_encoding()), "; give parameters"));
}

}  // namespace

absl::StatusOr<RotaryChoice> ChooseRotary(const core::ModelRegistry& models, const std::string& model,
                                          const std::string& version, const std::string& layer_type,
                                          const v1::RotaryParameters* given) {
  RotaryChoice choice;
  if (!model.empty()) {
    auto found = models.Find(model, version);
    if (!found.ok()) return found.status();
    choice.model = *std::move(found);
    auto parameters = OfModel(*choice.model, layer_type, given != nullptr);
    if (!parameters.ok()) return parameters.status();
    choice.parameters = *std::move(parameters);
  } else if (given == nullptr) {
    return core::InvalidArgument("INVALID_OPTION", "name a model with a rotary encoding, or give parameters");
  } else if (!version.empty() || !layer_type.empty()) {
    return core::InvalidArgument("INVALID_OPTION", "model_version and layer_type need a model");
  }
  if (given != nullptr) {
    if (absl::Status status = Override(*given, &choice.parameters); !status.ok()) return status;
  }
  return choice;
}

v1::RotaryParameters ToMessage(const core::RotaryParameters& parameters) {
  const std::int64_t rotary_dim = parameters.rotary_dim.value_or(0);
  v1::RotaryParameters message;
  message.set_head_dim(parameters.head_dim);
  message.set_rotary_dim(rotary_dim == 0 ? parameters.head_dim : rotary_dim);
  message.set_theta(parameters.theta);
  message.set_pairing(parameters.pairing == core::RotaryPairing::kInterleaved ? v1::ROTARY_PAIRING_INTERLEAVED
                                                                              : v1::ROTARY_PAIRING_HALF);
  if (parameters.scaling != core::RotaryScaling{}) *message.mutable_scaling() = ToMessage(parameters.scaling);
  return message;
}

}  // namespace embd::service
