#include "client/src/convert_rotary.h"

namespace embd::client {
namespace {

v1::RotaryScaling ToProto(const RotaryScaling& scaling) {
  v1::RotaryScaling result;
  result.set_type(scaling.type);
  if (scaling.factor) result.set_factor(*scaling.factor);
  if (scaling.original_max_position_embeddings) {
    result.set_original_max_position_embeddings(*scaling.original_max_position_embeddings);
  }
  if (scaling.low_freq_factor) result.set_low_freq_factor(*scaling.low_freq_factor);
  if (scaling.high_freq_factor) result.set_high_freq_factor(*scaling.high_freq_factor);
  if (scaling.beta_fast) result.set_beta_fast(*scaling.beta_fast);
  if (scaling.beta_slow) result.set_beta_slow(*scaling.beta_slow);
  if (scaling.attention_factor) result.set_attention_factor(*scaling.attention_factor);
  if (scaling.mscale) result.set_mscale(*scaling.mscale);
  if (scaling.mscale_all_dim) result.set_mscale_all_dim(*scaling.mscale_all_dim);
  if (scaling.truncate) result.set_truncate(*scaling.truncate);
  if (scaling.max_position_embeddings) result.set_max_position_embeddings(*scaling.max_position_embeddings);
  result.mutable_short_factor()->Add(scaling.short_factor.begin(), scaling.short_factor.end());
  result.mutable_long_factor()->Add(scaling.long_factor.begin(), scaling.long_factor.end());
  return result;
}

RotaryScaling FromProto(const v1::RotaryScaling& scaling) {
  RotaryScaling result = {.type = scaling.type(),
                          .short_factor = {scaling.short_factor().begin(), scaling.short_factor().end()},
                          .long_factor = {scaling.long_factor().begin(), scaling.long_factor().end()}};
  if (scaling.has_factor()) result.factor = scaling.factor();
  if (scaling.has_original_max_position_embeddings()) {
    result.original_max_position_embeddings = scaling.original_max_position_embeddings();
  }
  if (scaling.has_low_freq_factor()) result.low_freq_factor = scaling.low_freq_factor();
  if (scaling.has_high_freq_factor()) result.high_freq_factor = scaling.high_freq_factor();
  if (scaling.has_beta_fast()) result.beta_fast = scaling.beta_fast();
  if (scaling.has_beta_slow()) result.beta_slow = scaling.beta_slow();
  if (scaling.has_attention_factor()) result.attention_factor = scaling.attention_factor();
  if (scaling.has_mscale()) result.mscale = scaling.mscale();
  if (scaling.has_mscale_all_dim()) result.mscale_all_dim = scaling.mscale_all_dim();
  if (scaling.has_truncate()) result.truncate = scaling.truncate();
  if (scaling.has_max_position_embeddings()) result.max_position_embeddings = scaling.max_position_embeddings();
  return result;
}

}  // namespace

v1::RotaryParameters ToProto(const RotaryParameters& parameters) {
  v1::RotaryParameters result;
  result.set_head_dim(parameters.head_dim);
  if (parameters.rotary_dim) result.set_rotary_dim(*parameters.rotary_dim);
  if (parameters.theta) result.set_theta(*parameters.theta);
  if (parameters.scaling) *result.mutable_scaling() = ToProto(*parameters.scaling);
  result.set_pairing(static_cast<v1::RotaryPairing>(parameters.pairing));
  return result;
}

v1::RotateRequest ToProto(const RotateRequest& request) {
  v1::RotateRequest result;
  result.set_model(request.model);
  result.set_model_version(request.model_version);
  if (request.parameters) *result.mutable_parameters() = ToProto(*request.parameters);
  result.set_output_layout(static_cast<v1::RotaryOutput>(request.output_layout));
  result.set_layer_type(request.layer_type);
  if (request.sequence_axis) result.set_sequence_axis(*request.sequence_axis);
  result.mutable_position_offsets()->Add(request.position_offsets.begin(), request.position_offsets.end());
  result.mutable_position_ids()->Add(request.position_ids.begin(), request.position_ids.end());
  if (request.scaling_length) result.set_scaling_length(*request.scaling_length);
  result.set_inverse(request.inverse);
  result.set_output_type(static_cast<v1::DataType>(request.output_type));
  return result;
}

v1::RotaryTableRequest ToProto(const RotaryTableRequest& request) {
  v1::RotaryTableRequest result;
  result.set_model(request.model);
  result.set_model_version(request.model_version);
  if (request.parameters) *result.mutable_parameters() = ToProto(*request.parameters);
  result.set_layer_type(request.layer_type);
  result.set_first_position(request.first_position);
  result.set_length(request.length);
  if (request.scaling_length) result.set_scaling_length(*request.scaling_length);
  return result;
}

RotaryParameters FromProto(const v1::RotaryParameters& parameters) {
  RotaryParameters result = {.head_dim = parameters.head_dim(),
                             .pairing = static_cast<RotaryPairing>(parameters.pairing())};
  if (parameters.has_rotary_dim()) result.rotary_dim = parameters.rotary_dim();
  if (parameters.has_theta()) result.theta = parameters.theta();
  if (parameters.has_scaling()) result.scaling = FromProto(parameters.scaling());
  return result;
}

RotateInfo FromProto(const v1::RotateResponse& response) {
  return {.model = response.model(),
          .model_version = response.model_version(),
          .attention_factor = response.attention_factor(),
          .data_type = static_cast<DataType>(response.vectors().data_type()),
          .shape = {response.vectors().shape().begin(), response.vectors().shape().end()}};
}

}  // namespace embd::client
