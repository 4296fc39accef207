#include <nlohmann/json.hpp>

#include "client/cli/commands/description.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value.has_value() ? Json(*value) : Json();
}

// The name of a value, null for what was not said.
template <typename Enum>
Json NameOrNull(Enum value, absl::string_view (*name)(Enum)) {
  return value == Enum::kUnspecified ? Json() : Json(std::string(name(value)));
}

Json ToJson(const client::TableDescription& table) {
  return {{"kind", std::string(TableKindName(table.kind))},
          {"data_type", std::string(DataTypeName(table.data_type))},
          {"shape", table.shape},
          {"element_count", table.element_count},
          {"parameter_count", table.parameter_count},
          {"byte_size", table.byte_size},
          {"checksum", table.checksum},
          {"source", table.source}};
}

Json ToJson(const client::RotaryParameters& rotary) {
  return {{"head_dim", rotary.head_dim},
          {"rotary_dim", OrNull(rotary.rotary_dim)},
          {"theta", OrNull(rotary.theta)},
          {"pairing", std::string(RotaryPairingName(rotary.pairing))},
          {"scaling", rotary.scaling ? ScalingJson(*rotary.scaling) : Json()}};
}

Json ToJson(const std::vector<client::RotaryLayerType>& layer_types) {
  Json result = Json::object();
  for (const client::RotaryLayerType& layer : layer_types) result[layer.layer_type] = ToJson(layer.parameters);
  return result;
}

Json ToJson(const client::InferredValue& value) {
  return {{"key", value.key}, {"value", value.value}, {"source", value.source}};
}

template <typename T>
Json ListOf(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(ToJson(value));
  return list;
}

}  // namespace

nlohmann::ordered_json ScalingJson(const client::RotaryScaling& scaling) {
  Json result = {{"type", scaling.type.empty() ? "default" : scaling.type}};
  const auto add = [&result](const char* name, const auto& value) {
    if (value) result[name] = *value;
  };
  add("factor", scaling.factor);
  add("original_max_position_embeddings", scaling.original_max_position_embeddings);
  add("max_position_embeddings", scaling.max_position_embeddings);
  add("low_freq_factor", scaling.low_freq_factor);
  add("high_freq_factor", scaling.high_freq_factor);
  add("beta_fast", scaling.beta_fast);
  add("beta_slow", scaling.beta_slow);
  add("attention_factor", scaling.attention_factor);
  add("mscale", scaling.mscale);
  add("mscale_all_dim", scaling.mscale_all_dim);
  add("truncate", scaling.truncate);
  if (!scaling.short_factor.empty()) result["short_factor"] = scaling.short_factor;
  if (!scaling.long_factor.empty()) result["long_factor"] = scaling.long_factor;
  return result;
}

Json DescriptionJson(const client::ModelDescription& model) {
  return {{"name", model.name},
          {"version", model.version},
          {"generation", model.generation},
          {"checksum", model.checksum},
          {"position_encoding", std::string(PositionEncodingName(model.position_encoding))},
          {"vocab_size", model.vocab_size},
          {"embedding_dim", model.embedding_dim},
          {"max_context_length", OrNull(model.max_context_length)},
          {"parameter_count", model.parameter_count},
          {"vocabulary_words", model.vocabulary_words},
          {"sinusoidal_base", OrNull(model.sinusoidal_base)},
          {"rotary", model.rotary ? ToJson(*model.rotary) : Json()},
          {"rotary_layer_types", ToJson(model.rotary_layer_types)},
          {"architecture", model.architecture},
          {"numbering", NameOrNull(model.numbering, client::PositionNumberingName)},
          {"row_offset", model.row_offset},
          {"padding_idx", OrNull(model.padding_idx)},
          {"token_scale", model.token_scale},
          {"sinusoidal_layout", NameOrNull(model.sinusoidal_layout, client::SinusoidalLayoutName)},
          {"trained_context_length", OrNull(model.trained_context_length)},
          {"has_token_types", model.has_token_types},
          {"token_types_share_token_table", model.token_types_share_token_table},
          {"token_types_only_when_sent", model.token_types_only_when_sent},
          {"position_before_type", model.position_before_type},
          {"layer_norm_eps", OrNull(model.layer_norm_eps)},
          {"zero_masked", model.zero_masked},
          {"saturate", model.saturate},
          {"dropout_mask_id", OrNull(model.dropout_mask_id)},
          {"out_of_range", NameOrNull(model.out_of_range, client::OutOfRangePolicyName)},
          {"unk_id", OrNull(model.unk_id)},
          {"out_of_range_ids", model.out_of_range_ids},
          {"output_tied", model.output_tied},
          {"output_scale", model.output_scale},
          {"output_softcap", OrNull(model.output_softcap)},
          {"has_output_bias", model.has_output_bias},
          {"notes", model.notes},
          {"inferred_from", ListOf(model.inferred_from)},
          {"tables", ListOf(model.tables)}};
}

}  // namespace embd::cli
