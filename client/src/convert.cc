#include "convert.h"

#include <optional>
#include <string>
#include <utility>

#include "client/src/convert_rotary.h"
#include "client/src/convert_values.h"
#include "proto/wire/status.h"

namespace embd::client {
namespace {

TableDescription FromProto(const v1::TableDescription& table) {
  return {.kind = static_cast<TableKind>(table.kind()),
          .data_type = static_cast<DataType>(table.data_type()),
          .shape = ToVector(table.shape()),
          .element_count = table.element_count(),
          .parameter_count = table.parameter_count(),
          .byte_size = table.byte_size(),
          .checksum = table.checksum(),
          .source = table.source()};
}

ModelSummary FromProto(const v1::ModelSummary& model) {
  ModelSummary result = {.name = model.name(),
                         .version = model.version(),
                         .generation = model.generation(),
                         .position_encoding = static_cast<PositionEncoding>(model.position_encoding()),
                         .vocab_size = model.vocab_size(),
                         .embedding_dim = model.embedding_dim(),
                         .data_type = static_cast<DataType>(model.data_type()),
                         .byte_size = model.byte_size(),
                         .parameter_count = model.parameter_count()};
  if (model.has_max_context_length()) result.max_context_length = model.max_context_length();
  return result;
}

std::vector<InferredValue> FromProto(const google::protobuf::RepeatedPtrField<v1::InferredValue>& values) {
  std::vector<InferredValue> result;
  for (const v1::InferredValue& value : values) {
    result.push_back({.key = value.key(), .value = value.value(), .source = value.source()});
  }
  return result;
}

// What of a description says how the input stage computes.
void ReadComputation(const v1::DescribeModelResponse& response, ModelDescription* model) {
  model->numbering = static_cast<PositionNumbering>(response.numbering());
  model->row_offset = response.row_offset();
  if (response.has_padding_idx()) model->padding_idx = response.padding_idx();
  // A server that does not know the field scales nothing.
  if (response.token_scale() != 0) model->token_scale = response.token_scale();
  model->sinusoidal_layout = static_cast<SinusoidalLayout>(response.sinusoidal_layout());
  model->has_token_types = response.has_token_types();
  model->token_types_share_token_table = response.token_types_share_token_table();
  model->token_types_only_when_sent = response.token_types_only_when_sent();
  model->position_before_type = response.position_before_type();
  if (response.has_layer_norm_eps()) model->layer_norm_eps = response.layer_norm_eps();
  model->zero_masked = response.zero_masked();
  model->saturate = response.saturate();
  model->out_of_range = static_cast<OutOfRangePolicy>(response.out_of_range());
  if (response.has_unk_id()) model->unk_id = response.unk_id();
  model->out_of_range_ids = response.out_of_range_ids();
  if (response.has_dropout_mask_id()) model->dropout_mask_id = response.dropout_mask_id();
}

}  // namespace

v1::EmbedRequest ToProto(const EmbedRequest& request) {
  v1::EmbedRequest result;
  result.set_model(request.model);
  result.mutable_ids()->Add(request.ids.begin(), request.ids.end());
  result.set_batch_size(request.batch_size);
  result.set_sequence_length(request.sequence_length);
  result.set_part(static_cast<v1::Part>(request.part));
  result.set_output_type(static_cast<v1::DataType>(request.output_type));
  result.mutable_position_offsets()->Add(request.position_offsets.begin(), request.position_offsets.end());
  result.mutable_position_ids()->Add(request.position_ids.begin(), request.position_ids.end());
  result.set_model_version(request.model_version);
  result.mutable_token_type_ids()->Add(request.token_type_ids.begin(), request.token_type_ids.end());
  result.mutable_row_lengths()->Add(request.row_lengths.begin(), request.row_lengths.end());
  result.mutable_attention_mask()->Add(request.attention_mask.begin(), request.attention_mask.end());
  result.set_ragged_layout(static_cast<v1::RaggedLayout>(request.ragged_layout));
  result.set_padding_side(static_cast<v1::PaddingSide>(request.padding_side));
  result.set_unique(request.unique);
  result.set_if_checksum(request.if_checksum);
  if (request.output_target.has_value()) {
    v1::SharedMemoryTarget& target = *result.mutable_output_target();
    target.set_region(request.output_target->region);
    target.set_offset(request.output_target->offset);
    target.set_byte_size(request.output_target->byte_size);
  }
  return result;
}

v1::Tensor HeadToProto(const InputTensor& tensor) {
  v1::Tensor result;
  result.set_data_type(static_cast<v1::DataType>(tensor.data_type));
  result.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
  return result;
}

v1::DescribeModelRequest ToProto(const DescribeModelRequest& request) {
  v1::DescribeModelRequest result;
  result.set_model(request.model);
  result.set_model_version(request.model_version);
  return result;
}

v1::LookUpTokensRequest ToProto(const LookUpTokensRequest& request) {
  v1::LookUpTokensRequest result;
  result.set_model(request.model);
  result.set_model_version(request.model_version);
  result.mutable_tokens()->Add(request.tokens.begin(), request.tokens.end());
  return result;
}

v1::NeighbourSimilarityRequest ToProto(const NeighbourSimilarityRequest& request) {
  v1::NeighbourSimilarityRequest result;
  result.set_model(request.model);
  result.set_model_version(request.model_version);
  result.set_table(static_cast<v1::TableKind>(request.table));
  result.set_max_offset(request.max_offset);
  result.set_first_row(request.first_row);
  result.set_row_count(request.row_count);
  return result;
}

EmbedInfo FromProto(const v1::EmbedResponse& response) {
  std::optional<SharedMemoryTarget> written;
  if (response.has_written()) {
    written = {.region = response.written().region(),
               .offset = response.written().offset(),
               .byte_size = response.written().byte_size()};
  }
  return {.model = response.model(),
          .model_version = response.model_version(),
          .generation = response.generation(),
          .checksum = response.checksum(),
          .warnings = ToVector(response.warnings()),
          .data_type = static_cast<DataType>(response.embeddings().data_type()),
          .shape = ToVector(response.embeddings().shape()),
          .row_lengths = ToVector(response.row_lengths()),
          .unique_ids = ToVector(response.unique_ids()),
          .inverse = ToVector(response.inverse()),
          .written = std::move(written)};
}

EmbedInfo FromProto(const v1::EmbedChunksHeader& header) {
  return {.model = header.model(),
          .model_version = header.model_version(),
          .generation = header.generation(),
          .checksum = header.checksum(),
          .warnings = ToVector(header.warnings()),
          .data_type = static_cast<DataType>(header.data_type()),
          .shape = ToVector(header.shape()),
          .row_lengths = ToVector(header.row_lengths())};
}

std::vector<ModelSummary> FromProto(const v1::ListModelsResponse& response) {
  std::vector<ModelSummary> result;
  for (const v1::ModelSummary& model : response.models()) result.push_back(FromProto(model));
  return result;
}

ModelDescription FromProto(const v1::DescribeModelResponse& response) {
  ModelDescription result = {.name = response.name(),
                             .version = response.version(),
                             .generation = response.generation(),
                             .checksum = response.checksum(),
                             .position_encoding = static_cast<PositionEncoding>(response.position_encoding()),
                             .vocab_size = response.vocab_size(),
                             .embedding_dim = response.embedding_dim(),
                             .parameter_count = response.parameter_count(),
                             .vocabulary_words = response.vocabulary_words()};
  if (response.has_max_context_length()) result.max_context_length = response.max_context_length();
  for (const v1::TableDescription& table : response.tables()) result.tables.push_back(FromProto(table));
  if (response.has_sinusoidal_base()) result.sinusoidal_base = response.sinusoidal_base();
  if (response.has_rotary()) result.rotary = FromProto(response.rotary());
  for (const v1::RotaryLayerType& layer : response.rotary_layer_types()) {
    result.rotary_layer_types.push_back({layer.layer_type(), FromProto(layer.parameters())});
  }
  result.inferred_from = FromProto(response.inferred_from());
  result.architecture = response.architecture();
  if (response.has_trained_context_length()) result.trained_context_length = response.trained_context_length();
  result.notes = ToVector(response.notes());
  result.output_tied = response.output_tied();
  result.output_scale = response.output_scale();
  if (response.has_output_softcap()) result.output_softcap = response.output_softcap();
  result.has_output_bias = response.has_output_bias();
  ReadComputation(response, &result);
  return result;
}

TokenIds FromProto(const v1::LookUpTokensResponse& response) {
  return {.model = response.model(), .model_version = response.model_version(), .ids = ToVector(response.ids())};
}

NeighbourCurve FromProto(const v1::NeighbourSimilarityResponse& response) {
  return {.model = response.model(),
          .model_version = response.model_version(),
          .table = static_cast<TableKind>(response.table()),
          .rows = response.rows(),
          .mean_cosine = ToVector(response.mean_cosine()),
          .min_cosine = ToVector(response.min_cosine()),
          .max_cosine = ToVector(response.max_cosine()),
          .closed_form = ToVector(response.closed_form()),
          .zero_rows = response.zero_rows(),
          .monotone_steps = response.monotone_steps()};
}

ServerInfo FromProto(const v1::GetServerInfoResponse& response) {
  const v1::ServerLimits& limits = response.limits();
  return {.version = response.version(),
          .build = response.build(),
          .api_revision = response.api_revision(),
          .capabilities = ToVector(response.capabilities()),
          .simd_target = response.simd_target(),
          .limits = {.max_request_bytes = limits.max_request_bytes(),
                     .max_response_bytes = limits.max_response_bytes(),
                     .max_batch_size = limits.max_batch_size(),
                     .max_sequence_length = limits.max_sequence_length(),
                     .max_bytes_in_flight = limits.max_bytes_in_flight()},
          .shared_memory_prefix = response.shared_memory_prefix()};
}

LoadedModel FromProto(const v1::LoadedModel& model) {
  return {.name = model.name(),
          .version = model.version(),
          .generation = model.generation(),
          .checksum = model.checksum(),
          .load_time = absl::Milliseconds(model.load_time_ms())};
}

ReloadReport FromProto(const v1::ReloadConfigResponse& response) {
  ReloadReport report = {.unloaded = ToVector(response.unloaded()),
                         .unchanged = ToVector(response.unchanged()),
                         .needs_restart = ToVector(response.needs_restart()),
                         .applied = ToVector(response.applied())};
  for (const v1::LoadedModel& model : response.loaded()) report.loaded.push_back(FromProto(model));
  for (const v1::LoadedModel& model : response.reloaded()) report.reloaded.push_back(FromProto(model));
  for (const v1::ReloadFailure& failure : response.failures()) {
    v1::RequestStatus status;
    status.set_code(failure.code());
    status.set_message(failure.message());
    status.set_reason(failure.reason());
    report.failures.push_back(
        {.model = failure.model(), .setting = failure.setting(), .status = wire::FromRequestStatus(status)});
  }
  return report;
}

v1::RegisterRegionRequest ToRequest(const Region& region) {
  v1::RegisterRegionRequest request;
  request.mutable_region()->set_name(region.name);
  request.mutable_region()->set_path(region.path);
  request.mutable_region()->set_offset(region.offset);
  request.mutable_region()->set_byte_size(region.byte_size);
  return request;
}

std::vector<Region> FromProto(const v1::ListRegionsResponse& response) {
  std::vector<Region> result;
  for (const v1::Region& region : response.regions()) {
    result.push_back(
        {.name = region.name(), .path = region.path(), .offset = region.offset(), .byte_size = region.byte_size()});
  }
  return result;
}

}  // namespace embd::client
