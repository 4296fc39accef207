#include "client/fake/explain.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "client/fake/compose.h"
#include "client/fake/embed_checks.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"

namespace embd::client::fake {
namespace {

EmbedRequest ToEmbedRequest(const ExplainCellRequest& request) {
  EmbedRequest embed = {.model = request.model, .ids = request.ids};
  embed.batch_size = request.batch_size;
  embed.sequence_length = request.sequence_length;
  embed.position_offsets = request.position_offsets;
  embed.position_ids = request.position_ids;
  embed.token_type_ids = request.token_type_ids;
  embed.row_lengths = request.row_lengths;
  embed.attention_mask = request.attention_mask;
  return embed;
}

std::vector<float> Row(const std::vector<float>& table, std::int64_t row, std::int64_t dim) {
  const auto first = table.begin() + row * dim;
  return {first, first + dim};
}

void Add(const std::vector<float>& values, std::vector<float>* sum) {
  for (std::size_t d = 0; d < values.size(); ++d) (*sum)[d] += values[d];
}

void AddNorm(const FakeModel& model, CellExplanation* cell) {
  const auto dim = static_cast<double>(model.embedding_dim);
  double mean = 0;
  for (const float value : cell->sum) mean += double{value} / dim;
  double variance = 0;
  for (const float value : cell->sum) variance += (double{value} - mean) * (double{value} - mean) / dim;
  cell->layer_norm_mean = mean;
  cell->layer_norm_variance = variance;
  cell->layer_norm_eps = model.layer_norm_eps;
  cell->layer_norm_weight = Row(model.layer_norm_weight, 0, model.embedding_dim);
  cell->layer_norm_bias = Row(model.layer_norm_bias, 0, model.embedding_dim);
}

}  // namespace

absl::StatusOr<CellExplanation> Explain(const FakeModel& model, const ExplainCellRequest& request,
                                        const ServerLimits& limits) {
  const EmbedRequest embed = ToEmbedRequest(request);
  const auto checked = CheckEmbed(model, embed, limits);
  if (!checked.ok()) return checked.status();
  const Batch& batch = checked->batch;
  const std::int64_t b = request.batch_index;
  const std::int64_t t = request.sequence_index;
  if (b < 0 || b >= batch.rows || t < 0 || t >= batch.Length(b)) {
    return Invalid("INVALID_OPTION", absl::StrCat("the batch has no cell (", b, ", ", t, ")"));
  }
  std::int64_t index = t;
  for (std::int64_t row = 0; row < b; ++row) index += batch.Length(row);
  const auto cell = static_cast<std::size_t>(index);
  const std::int64_t dim = model.embedding_dim;

  const std::int64_t id = request.ids[cell];
  CellExplanation result = {.model = model.name,
                            .model_version = model.version,
                            .id = id,
                            .token_row = id,
                            .token = model.vocabulary.empty() ? "" : model.vocabulary[static_cast<std::size_t>(id)],
                            .token_scale = double{model.token_scale},
                            .token_values = Row(model.token, id, dim),
                            .scaled_values = RowsOf(model, {id})};
  result.sum = result.scaled_values;
  if (TypeRows(model) > 0) {
    result.token_type = request.token_type_ids.empty() ? 0 : request.token_type_ids[cell];
    result.token_type_values = Row(model.token_type, *result.token_type, dim);
    Add(result.token_type_values, &result.sum);
  }
  if (!checked->position_rows.empty()) {
    result.position_row = checked->position_rows[cell];
    result.position = *result.position_row - model.row_offset;
    result.position_values = Row(model.position, *result.position_row, dim);
    Add(result.position_values, &result.sum);
  }
  if (HasLayerNorm(model)) AddNorm(model, &result);
  result.embedding = Row(Compose(model, embed, *checked), b * batch.tokens + t, dim);
  return result;
}

}  // namespace embd::client::fake
