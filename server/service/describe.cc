#include "server/service/describe.h"

#include <string>
#include <utility>
#include <vector>

#include "server/core/kernels/simd_target.h"
#include "server/service/rotary_parameters.h"

namespace embd::service {
namespace {

constexpr int kApiRevision = 2;

v1::PositionEncoding ToMessage(core::PositionEncoding encoding) {
  switch (encoding) {
    case core::PositionEncoding::kNone: return v1::POSITION_ENCODING_NONE;
    case core::PositionEncoding::kLearned: return v1::POSITION_ENCODING_LEARNED;
    case core::PositionEncoding::kSinusoidal: return v1::POSITION_ENCODING_SINUSOIDAL;
    case core::PositionEncoding::kRotary: return v1::POSITION_ENCODING_ROTARY;
  }
  return v1::POSITION_ENCODING_UNSPECIFIED;
}

std::int64_t ParameterCount(const core::ModelTable& entry) { return entry.trainable ? entry.table.element_count() : 0; }

// A model's tables in the order in which they are told.
std::vector<std::pair<v1::TableKind, const core::ModelTable*>> TablesOf(const core::Model& model) {
  std::vector<std::pair<v1::TableKind, const core::ModelTable*>> tables = {{v1::TABLE_KIND_TOKEN, &model.token()}};
  if (model.position() != nullptr) tables.emplace_back(v1::TABLE_KIND_POSITION, model.position());
  if (model.token_types().has_value() && model.token_types()->table.has_value()) {
    tables.emplace_back(v1::TABLE_KIND_TOKEN_TYPE, &*model.token_types()->table);
  }
  return tables;
}

std::int64_t ParameterCount(const core::Model& model) {
  std::int64_t count = 0;
  for (const auto& [kind, table] : TablesOf(model)) count += ParameterCount(*table);
  return count;
}

std::int64_t ByteSize(const core::ModelTable& entry) { return static_cast<std::int64_t>(entry.table.bytes().size()); }

void DescribeTable(v1::TableKind kind, const core::ModelTable& entry, v1::TableDescription* message) {
  message->set_kind(kind);
  message->set_data_type(ToDataType(entry.table.element_type()));
  message->add_shape(entry.table.rows());
  message->add_shape(entry.table.dim());
  message->set_element_count(entry.table.element_count());
  message->set_parameter_count(ParameterCount(entry));
  message->set_byte_size(ByteSize(entry));
  message->set_checksum(entry.checksum);
  message->set_source(entry.source);
}

void Summarize(const core::Model& model, v1::ModelSummary* message) {
  message->set_name(model.name());
  message->set_version(model.version());
  message->set_generation(model.generation());
  message->set_position_encoding(ToMessage(model.position_encoding()));
  message->set_vocab_size(model.vocab_size());
  message->set_embedding_dim(model.embedding_dim());
  message->set_data_type(ToDataType(model.token().table.element_type()));
  if (const auto length = model.max_context_length()) message->set_max_context_length(*length);
  message->set_byte_size(TableBytes(model));
  message->set_parameter_count(ParameterCount(model));
}

v1::PositionNumbering ToMessage(core::Numbering numbering) {
  switch (numbering) {
    case core::Numbering::kSequential: return v1::POSITION_NUMBERING_SEQUENTIAL;
    case core::Numbering::kFixed: return v1::POSITION_NUMBERING_FIXED;
    case core::Numbering::kPadding: return v1::POSITION_NUMBERING_PADDING;
    case core::Numbering::kMask: return v1::POSITION_NUMBERING_MASK;
  }
  return v1::POSITION_NUMBERING_UNSPECIFIED;
}

v1::SinusoidalLayout ToMessage(core::SinusoidalLayout layout) {
  switch (layout) {
    case core::SinusoidalLayout::kInterleaved: return v1::SINUSOIDAL_LAYOUT_INTERLEAVED;
    case core::SinusoidalLayout::kHalf: return v1::SINUSOIDAL_LAYOUT_HALF;
    case core::SinusoidalLayout::kTensor2Tensor: return v1::SINUSOIDAL_LAYOUT_TENSOR2TENSOR;
  }
  return v1::SINUSOIDAL_LAYOUT_UNSPECIFIED;
}

v1::OutOfRangePolicy ToMessage(core::OutOfRangePolicy policy) {
  switch (policy) {
    case core::OutOfRangePolicy::kError: return v1::OUT_OF_RANGE_POLICY_ERROR;
    case core::OutOfRangePolicy::kZero: return v1::OUT_OF_RANGE_POLICY_ZERO;
    case core::OutOfRangePolicy::kUnk: return v1::OUT_OF_RANGE_POLICY_UNK;
  }
  return v1::OUT_OF_RANGE_POLICY_UNSPECIFIED;
}

void DescribePositions(const core::Model& model, v1::DescribeModelResponse* response) {
  if (model.position() != nullptr) response->set_numbering(ToMessage(model.numbering()));
  response->set_row_offset(model.row_offset());
  if (const auto padding = model.padding_idx()) response->set_padding_idx(*padding);
  if (const auto trained = model.trained_context_length()) response->set_trained_context_length(*trained);
  if (const auto& sinusoidal = model.sinusoidal(); sinusoidal.has_value()) {
    response->set_sinusoidal_base(sinusoidal->base);
    response->set_sinusoidal_layout(ToMessage(sinusoidal->layout));
  }
}

void DescribeSum(const core::Model& model, v1::DescribeModelResponse* response) {
  response->set_token_scale(static_cast<double>(model.token_scale()));
  response->set_out_of_range(ToMessage(model.out_of_range()));
  if (model.out_of_range() == core::OutOfRangePolicy::kUnk) response->set_unk_id(model.unk_id());
  response->set_out_of_range_ids(model.out_of_range_ids());
  if (const auto& types = model.token_types(); types.has_value()) {
    response->set_has_token_types(true);
    response->set_token_types_share_token_table(!types->table.has_value());
    response->set_token_types_only_when_sent(types->only_when_sent);
  }
  response->set_position_before_type(model.position_before_type());
  if (const auto& norm = model.layer_norm(); norm.has_value()) response->set_layer_norm_eps(norm->parameters.eps);
  response->set_zero_masked(model.zero_masked());
  if (const auto mask_id = model.dropout_mask_id()) response->set_dropout_mask_id(*mask_id);
  response->set_saturate(model.saturate());
}

void DescribeOutput(const core::ModelOutput& output, v1::DescribeModelResponse* response) {
  response->set_output_tied(output.tied);
  response->set_output_scale(output.scale);
  if (output.softcap.has_value()) response->set_output_softcap(*output.softcap);
  response->set_has_output_bias(!output.bias.empty());
}

}  // namespace

std::int64_t TableBytes(const core::Model& model) {
  std::int64_t bytes = 0;
  for (const auto& [kind, table] : TablesOf(model)) bytes += ByteSize(*table);
  return bytes;
}

v1::DataType ToDataType(core::ElementType type) {
  switch (type) {
    case core::ElementType::kFloat32: return v1::DATA_TYPE_FLOAT32;
    case core::ElementType::kFloat16: return v1::DATA_TYPE_FLOAT16;
    case core::ElementType::kBFloat16: return v1::DATA_TYPE_BFLOAT16;
    case core::ElementType::kFloat64: return v1::DATA_TYPE_FLOAT64;
  }
  return v1::DATA_TYPE_UNSPECIFIED;
}

absl::StatusOr<v1::ListModelsResponse> AnswerListModels(const core::ModelRegistry& models) {
  v1::ListModelsResponse response;
  for (const auto& model : models.All()) Summarize(*model, response.add_models());
  return response;
}

absl::StatusOr<v1::DescribeModelResponse> AnswerDescribeModel(const core::ModelRegistry& models,
                                                              const v1::DescribeModelRequest& request) {
  const auto found = models.Find(request.model(), request.model_version());
  if (!found.ok()) return found.status();
  const core::Model& model = **found;
  v1::DescribeModelResponse response;
  response.set_name(model.name());
  response.set_version(model.version());
  response.set_generation(model.generation());
  response.set_checksum(model.checksum());
  response.set_position_encoding(ToMessage(model.position_encoding()));
  response.set_vocab_size(model.vocab_size());
  response.set_embedding_dim(model.embedding_dim());
  if (const auto length = model.max_context_length()) response.set_max_context_length(*length);
  for (const auto& [kind, table] : TablesOf(model)) DescribeTable(kind, *table, response.add_tables());
  response.set_parameter_count(ParameterCount(model));
  if (model.vocabulary() != nullptr) response.set_vocabulary_words(model.vocabulary()->size());
  DescribePositions(model, &response);
  DescribeSum(model, &response);
  DescribeOutput(model.output(), &response);
  response.set_architecture(model.architecture());
  for (const core::InferredValue& inferred : model.inferred_from()) {
    v1::InferredValue& message = *response.add_inferred_from();
    message.set_key(inferred.key);
    message.set_value(inferred.value);
    message.set_source(inferred.source);
  }
  for (const std::string& note : model.notes()) response.add_notes(note);
  if (model.rotary().has_value()) *response.mutable_rotary() = ToMessage(*model.rotary());
  for (const auto& [layer_type, parameters] : model.rotary_layer_types()) {
    v1::RotaryLayerType* const entry = response.add_rotary_layer_types();
    entry->set_layer_type(layer_type);
    *entry->mutable_parameters() = ToMessage(parameters);
  }
  return response;
}

v1::GetServerInfoResponse AnswerGetServerInfo(const Backend& backend) {
  v1::GetServerInfoResponse response;
  response.set_version(backend.version);
  response.set_build(backend.build);
  response.set_api_revision(kApiRevision);
  for (const char* const capability :
       {"cosine_similarities", "embed", "embed_bags", "embed_chunks", "embed_stream", "explain_cell", "gradient",
        "if_checksum", "look_up_tokens", "nearest_tokens", "neighbour_similarity", "position_wavelengths", "project",
        "rotate", "shift_property", "table_statistics", "unique"}) {
    response.add_capabilities(capability);
  }
  response.set_simd_target(core::SimdTarget());
  v1::ServerLimits& limits = *response.mutable_limits();
  limits.set_max_request_bytes(backend.max_request_bytes);
  limits.set_max_response_bytes(backend.limits.max_response_bytes);
  limits.set_max_batch_size(backend.limits.max_batch_size);
  limits.set_max_sequence_length(backend.limits.max_sequence_length);
  limits.set_max_bytes_in_flight(backend.max_bytes_in_flight);
  if (backend.regions.on()) {
    response.add_capabilities("shared_memory");
    response.set_shared_memory_prefix(backend.regions.limits().prefix);
  }
  return response;
}

}  // namespace embd::service
