#include "server/service/describe.h"

#include "server/core/kernels/simd_target.h"
#include "server/service/rotary_parameters.h"

namespace embd::service {
namespace {

constexpr int kApiRevision = 1;

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

std::int64_t ParameterCount(const core::Model& model) {
  return ParameterCount(model.token()) + (model.position() != nullptr ? ParameterCount(*model.position()) : 0);
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
  std::int64_t bytes = ByteSize(model.token());
  if (const core::ModelTable* const position = model.position()) {
    message->set_max_context_length(position->table.rows());
    bytes += ByteSize(*position);
  }
  message->set_byte_size(bytes);
  message->set_parameter_count(ParameterCount(model));
}

}  // namespace

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
  DescribeTable(v1::TABLE_KIND_TOKEN, model.token(), response.add_tables());
  if (const core::ModelTable* const position = model.position()) {
    response.set_max_context_length(position->table.rows());
    DescribeTable(v1::TABLE_KIND_POSITION, *position, response.add_tables());
  }
  response.set_parameter_count(ParameterCount(model));
  if (model.vocabulary() != nullptr) response.set_vocabulary_words(model.vocabulary()->size());
  if (model.sinusoidal_base().has_value()) response.set_sinusoidal_base(*model.sinusoidal_base());
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
  for (const char* const capability : {"embed", "embed_stream", "look_up_tokens", "neighbour_similarity", "rotate"}) {
    response.add_capabilities(capability);
  }
  response.set_simd_target(core::SimdTarget());
  v1::ServerLimits& limits = *response.mutable_limits();
  limits.set_max_request_bytes(backend.max_request_bytes);
  limits.set_max_response_bytes(backend.limits.max_response_bytes);
  limits.set_max_batch_size(backend.limits.max_batch_size);
  limits.set_max_sequence_length(backend.limits.max_sequence_length);
  limits.set_max_bytes_in_flight(backend.max_bytes_in_flight);
  return response;
}

}  // namespace embd::service
