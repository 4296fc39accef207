#include "client/fake/compose.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "client/fake/lookup.h"
#include "client/fake/widen.h"

namespace embd::client::fake {
namespace {

void AddRow(const std::vector<float>& table, std::int64_t row, std::span<float> out) {
  const float* const values = table.data() + static_cast<std::size_t>(row) * out.size();
  for (std::size_t d = 0; d < out.size(); ++d) out[d] += values[d];
}

void Normalize(const FakeModel& model, std::span<float> out) {
  const auto dim = static_cast<double>(out.size());
  double mean = 0;
  for (const float value : out) mean += double{value} / dim;
  double variance = 0;
  for (const float value : out) variance += (double{value} - mean) * (double{value} - mean) / dim;
  const double scale = 1 / std::sqrt(variance + model.layer_norm_eps);
  for (std::size_t d = 0; d < out.size(); ++d) {
    out[d] = static_cast<float>((double{out[d]} - mean) * scale * double{model.layer_norm_weight[d]} +
                                double{model.layer_norm_bias[d]});
  }
}

// Composes cells one at a time; `out` is zero before.
class Composer {
 public:
  Composer(const FakeModel& model, const EmbedRequest& request, const CheckedRequest& checked)
      : model_(model),
        request_(request),
        position_rows_(checked.position_rows),
        whole_(request.part != Part::kToken && request.part != Part::kPosition) {
    if (request.inputs_embeds.has_value()) vectors_ = Widen(*request.inputs_embeds);
  }

  void Cell(std::size_t cell, std::span<float> out) const {
    if (WithToken(request_)) Token(cell, out);
    if (whole_ && TypeRows(model_) > 0) {
      AddRow(model_.token_type, request_.token_type_ids.empty() ? 0 : request_.token_type_ids[cell], out);
    }
    if (!position_rows_.empty()) AddRow(model_.position, position_rows_[cell], out);
    if (whole_ && HasLayerNorm(model_)) Normalize(model_, out);
  }

 private:
  void Token(std::size_t cell, std::span<float> out) const {
    const bool given = request_.inputs_embeds.has_value();
    const std::vector<float>& table = given ? vectors_ : model_.token;
    const std::size_t row = given ? cell : static_cast<std::size_t>(request_.ids[cell]);
    for (std::size_t d = 0; d < out.size(); ++d) {
      const float value = table[row * out.size() + d];
      out[d] = given ? value : model_.token_scale * value;
    }
  }

  const FakeModel& model_;
  const EmbedRequest& request_;
  const std::vector<std::int64_t>& position_rows_;
  std::vector<float> vectors_;
  bool whole_;
};

}  // namespace

std::vector<float> Compose(const FakeModel& model, const EmbedRequest& request, const CheckedRequest& checked) {
  const Batch& batch = checked.batch;
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  const auto places = static_cast<std::size_t>(batch.packed ? batch.cells : batch.rows * batch.tokens);
  std::vector<float> result(places * dim);
  const Composer composer(model, request, checked);
  std::size_t cell = 0;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    const std::int64_t length = batch.Length(row);
    const std::int64_t begin = row * batch.tokens + (batch.padded_left ? batch.tokens - length : 0);
    for (std::int64_t t = 0; t < length; ++t, ++cell) {
      const std::size_t place = batch.packed ? cell : static_cast<std::size_t>(begin + t);
      composer.Cell(cell, std::span(result).subspan(place * dim, dim));
    }
  }
  return result;
}

std::vector<float> RowsOf(const FakeModel& model, const std::vector<std::int64_t>& ids) {
  const auto dim = static_cast<std::size_t>(model.embedding_dim);
  std::vector<float> result;
  result.reserve(ids.size() * dim);
  for (const std::int64_t id : ids) {
    const float* const row = model.token.data() + static_cast<std::size_t>(id) * dim;
    for (std::size_t d = 0; d < dim; ++d) result.push_back(model.token_scale * row[d]);
  }
  return result;
}

}  // namespace embd::client::fake
