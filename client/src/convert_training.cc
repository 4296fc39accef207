#include "client/src/convert_training.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "client/src/convert_values.h"

namespace embd::client {
namespace {

bool FitInt32(const std::vector<std::int64_t>& ids) {
  bool fit = true;
  for (const std::int64_t id : ids) fit &= id == static_cast<std::int32_t>(id);
  return fit;
}

// Raw INT32, which is read several times as fast as the varints of `ids`.
void AssignRaw(const std::vector<std::int64_t>& ids, v1::Tensor* tensor) {
  tensor->set_data_type(v1::DATA_TYPE_INT32);
  tensor->add_shape(static_cast<std::int64_t>(ids.size()));
  std::string& data = *tensor->mutable_data();
  data.resize(ids.size() * sizeof(std::int32_t));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const auto id = static_cast<std::int32_t>(ids[i]);
    std::memcpy(data.data() + i * sizeof(id), &id, sizeof(id));
  }
}

v1::Bag ToProto(const Bag& bag) {
  v1::Bag message;
  message.set_model(bag.model);
  message.set_model_version(bag.model_version);
  if (!bag.row_lengths.empty() && !bag.ids.empty() && !bag.ids_tensor.has_value() && FitInt32(bag.ids)) {
    AssignRaw(bag.ids, message.mutable_ids_tensor());
  } else {
    Assign(bag.ids, message.mutable_ids());
  }
  Assign(bag.row_lengths, message.mutable_row_lengths());
  Assign(bag.weights, message.mutable_weights());
  message.set_mode(static_cast<v1::BagMode>(bag.mode));
  if (bag.ids_tensor.has_value()) ToProto(*bag.ids_tensor, message.mutable_ids_tensor());
  return message;
}

absl::StatusOr<TableGradient> ToGradient(v1::TableGradient&& message) {
  TableGradient result = {.table = static_cast<TableKind>(message.table()),
                          .trainable = message.trainable(),
                          .table_rows = message.table_rows(),
                          .touched_rows = message.touched_rows(),
                          .row_ids = ToVector(message.row_ids()),
                          .counts = ToVector(message.counts()),
                          .row_norms = ToVector(message.row_norms())};
  if (result.counts.size() != result.row_ids.size()) return MakesNoSense("row_ids and counts differ in length");
  if (!message.has_rows()) return result;
  auto rows = FromProto(std::move(*message.mutable_rows()));
  if (!rows.ok()) return rows.status();
  if (rows->shape.size() != 2 || rows->shape[0] != static_cast<std::int64_t>(result.row_ids.size()) ||
      result.row_norms.size() != result.row_ids.size()) {
    return MakesNoSense("a gradient's rows are not as many as its row_ids");
  }
  result.rows = *std::move(rows);
  return result;
}

}  // namespace

v1::EmbedBagsRequest ToProto(const EmbedBagsRequest& request) {
  v1::EmbedBagsRequest message;
  for (const Bag& bag : request.bags) *message.add_bags() = ToProto(bag);
  message.set_output_type(static_cast<v1::DataType>(request.output_type));
  message.set_concatenate(request.concatenate);
  return message;
}

v1::GradientRequest ToProto(const GradientRequest& request) {
  v1::GradientRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  Assign(request.ids, message.mutable_ids());
  message.set_batch_size(request.batch_size);
  message.set_sequence_length(request.sequence_length);
  for (const TableKind kind : request.tables) message.add_tables(static_cast<v1::TableKind>(kind));
  message.set_part(static_cast<v1::Part>(request.part));
  Assign(request.position_offsets, message.mutable_position_offsets());
  Assign(request.position_ids, message.mutable_position_ids());
  Assign(request.token_type_ids, message.mutable_token_type_ids());
  Assign(request.row_lengths, message.mutable_row_lengths());
  Assign(request.attention_mask, message.mutable_attention_mask());
  if (request.output_gradient.has_value()) ToProto(*request.output_gradient, message.mutable_output_gradient());
  if (request.output_side.has_value()) {
    v1::OutputSide& side = *message.mutable_output_side();
    Assign(request.output_side->target_ids, side.mutable_target_ids());
    ToProto(request.output_side->hidden, side.mutable_hidden());
  }
  return message;
}

v1::ProjectRequest ToProto(const ProjectRequest& request) {
  v1::ProjectRequest message;
  message.set_model(request.model);
  message.set_model_version(request.model_version);
  message.set_top_k(request.top_k);
  if (request.scale.has_value()) message.set_scale(*request.scale);
  if (request.softcap.has_value()) message.set_softcap(*request.softcap);
  message.set_raw_scores(request.raw_scores);
  message.set_log_probabilities(request.log_probabilities);
  Assign(request.candidate_ids, message.mutable_candidate_ids());
  message.set_with_tokens(request.with_tokens);
  ToProto(request.vectors, message.mutable_vectors());
  return message;
}

absl::StatusOr<PooledBags> FromProto(v1::EmbedBagsResponse&& response) {
  PooledBags result = {.models = ToVector(response.models()), .checksums = ToVector(response.checksums())};
  if (result.checksums.size() != result.models.size()) return MakesNoSense("models and checksums differ in length");
  for (v1::Tensor& message : *response.mutable_embeddings()) {
    auto tensor = FromProto(std::move(message));
    if (!tensor.ok()) return tensor.status();
    result.embeddings.push_back(*std::move(tensor));
  }
  if (result.embeddings.size() != 1 && result.embeddings.size() != result.models.size()) {
    return MakesNoSense("embeddings are not as many as models");
  }
  return result;
}

absl::StatusOr<Gradients> FromProto(v1::GradientResponse&& response) {
  Gradients result = {.model = response.model(), .model_version = response.model_version()};
  for (v1::TableGradient& message : *response.mutable_tables()) {
    auto gradient = ToGradient(std::move(message));
    if (!gradient.ok()) return gradient.status();
    result.tables.push_back(*std::move(gradient));
  }
  if (response.has_loss()) result.loss = response.loss();
  return result;
}

absl::StatusOr<Projection> FromProto(v1::ProjectResponse&& response) {
  Projection result = {.model = response.model(),
                       .model_version = response.model_version(),
                       .tied = response.tied(),
                       .ids = ToVector(response.ids()),
                       .tokens = ToVector(response.tokens())};
  const v1::Tensor& shape = response.scores();
  if (shape.shape_size() != 2) return MakesNoSense("scores are not (N, k)");
  const std::int64_t count = shape.shape(0);
  result.k = shape.shape(1);
  auto scores = ToFloats(std::move(*response.mutable_scores()));
  if (!scores.ok()) return scores.status();
  result.scores = *std::move(scores);
  if (result.ids.size() != result.scores.size() ||
      (!result.tokens.empty() && result.tokens.size() != result.ids.size())) {
    return MakesNoSense("ids, tokens and scores differ in length");
  }
  if (!response.has_log_sum_exp()) return result;
  auto sums = ToFloats(std::move(*response.mutable_log_sum_exp()));
  if (!sums.ok()) return sums.status();
  if (static_cast<std::int64_t>(sums->size()) != count) return MakesNoSense("log_sum_exp is not one a vector");
  result.log_sum_exp = *std::move(sums);
  return result;
}

}  // namespace embd::client
