#include "server/service/explain_cell.h"

#include <utility>
#include <vector>

#include "embd/v1/embedding.pb.h"
#include "server/core/engine/explain_cell.h"
#include "server/core/error.h"
#include "server/service/embed_request.h"

namespace embd::service {
namespace {

// The request of the batch that the cell is of.
v1::EmbedRequest ToEmbedRequest(const v1::ExplainCellRequest& request) {
  v1::EmbedRequest embed;
  *embed.mutable_ids() = request.ids();
  embed.set_batch_size(request.batch_size());
  embed.set_sequence_length(request.sequence_length());
  *embed.mutable_position_offsets() = request.position_offsets();
  *embed.mutable_position_ids() = request.position_ids();
  *embed.mutable_token_type_ids() = request.token_type_ids();
  *embed.mutable_row_lengths() = request.row_lengths();
  *embed.mutable_attention_mask() = request.attention_mask();
  return embed;
}

void Assign(const std::vector<float>& values, google::protobuf::RepeatedField<float>* field) {
  field->Assign(values.begin(), values.end());
}

void FillToken(const core::Model& model, const core::CellExplanation& cell, v1::ExplainCellResponse* response) {
  response->set_id(cell.id);
  if (cell.token_row.has_value()) {
    response->set_token_row(*cell.token_row);
    if (const core::Vocabulary* const words = model.vocabulary(); words != nullptr) {
      response->set_token(core::ValidUtf8(words->word(*cell.token_row)));
    }
  }
  response->set_token_scale(cell.token_scale);
  Assign(cell.token_values, response->mutable_token_values());
  Assign(cell.scaled_values, response->mutable_scaled_values());
}

void FillAddends(const core::Model& model, const core::CellExplanation& cell, v1::ExplainCellResponse* response) {
  if (cell.token_type.has_value()) {
    response->set_token_type(cell.token_type->row);
    Assign(cell.token_type->values, response->mutable_token_type_values());
  }
  if (cell.position.has_value()) {
    response->set_position(cell.position->row - model.row_offset());
    response->set_position_row(cell.position->row);
    Assign(cell.position->values, response->mutable_position_values());
  }
  response->set_position_before_type(model.position_before_type());
  Assign(cell.sum, response->mutable_sum());
}

void FillLayerNorm(const core::Model& model, const core::CellExplanation& cell, v1::ExplainCellResponse* response) {
  if (!model.layer_norm().has_value()) return;
  const core::LayerNormParameters& parameters = model.layer_norm()->parameters;
  response->set_layer_norm_mean(*cell.layer_norm_mean);
  response->set_layer_norm_variance(*cell.layer_norm_variance);
  response->set_layer_norm_eps(parameters.eps);
  Assign(parameters.weight, response->mutable_layer_norm_weight());
  Assign(parameters.bias, response->mutable_layer_norm_bias());
}

}  // namespace

absl::StatusOr<v1::ExplainCellResponse> AnswerExplainCell(const core::ModelRegistry& models,
                                                          const core::EmbedLimits& limits,
                                                          const v1::ExplainCellRequest& request) {
  const auto model = models.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  v1::EmbedRequest embed = ToEmbedRequest(request);
  auto input = ToEmbedInput(&embed);
  if (!input.ok()) return input.status();
  const auto cell = core::ExplainCell(*model, *std::move(input), limits,
                                      {.row = request.batch_index(), .column = request.sequence_index()});
  if (!cell.ok()) return cell.status();
  if (absl::Status status = (*model)->CheckUndamaged(); !status.ok()) return status;

  v1::ExplainCellResponse response;
  response.set_model((*model)->name());
  response.set_model_version((*model)->version());
  FillToken(**model, *cell, &response);
  FillAddends(**model, *cell, &response);
  FillLayerNorm(**model, *cell, &response);
  Assign(cell->embedding, response.mutable_embedding());
  response.set_zeroed(cell->zeroed);
  return response;
}

}  // namespace embd::service
