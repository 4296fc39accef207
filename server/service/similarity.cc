#include "server/service/similarity.h"

#include "server/core/diagnostics/neighbour_similarity.h"
#include "server/service/overload.h"
#include "server/service/table_choice.h"

namespace embd::service {
namespace {

// In tensor2tensor's layout the frequencies are others, and with an odd width a column has no partner.
bool HasClosedForm(const core::Model& model) {
  const auto& sinusoidal = model.sinusoidal();
  return sinusoidal.has_value() && sinusoidal->layout != core::SinusoidalLayout::kTensor2Tensor &&
         model.embedding_dim() % 2 == 0;
}

}  // namespace

absl::StatusOr<v1::NeighbourSimilarityResponse> AnswerNeighbourSimilarity(
    const core::ModelRegistry& models, const v1::NeighbourSimilarityRequest& request,
    absl::FunctionRef<absl::Status()> interrupted) {
  const auto model = models.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  const auto table = ChooseTable(**model, request.table(), v1::TABLE_KIND_POSITION);
  if (!table.ok()) return table.status();
  const v1::TableKind kind = table->kind;
  const core::Table* const rows = table->table;
  absl::Status interruption;
  const auto curve = core::NeighbourSimilarity(
      *rows, {.max_offset = request.max_offset(), .first_row = request.first_row(), .row_count = request.row_count()},
      [&interruption, &interrupted] { return !(interruption = interrupted()).ok(); });
  if (!interruption.ok()) return interruption;
  if (absl::IsResourceExhausted(curve.status())) return Overloaded(curve.status().message());
  if (!curve.ok()) return curve.status();
  if (absl::Status status = (*model)->CheckUndamaged(); !status.ok()) return status;

  v1::NeighbourSimilarityResponse response;
  response.set_model((*model)->name());
  response.set_model_version((*model)->version());
  response.set_table(kind);
  response.set_rows(curve->rows);
  response.mutable_mean_cosine()->Assign(curve->mean.begin(), curve->mean.end());
  response.mutable_min_cosine()->Assign(curve->min.begin(), curve->min.end());
  response.mutable_max_cosine()->Assign(curve->max.begin(), curve->max.end());
  response.set_zero_rows(curve->zero_rows);
  response.set_monotone_steps(curve->monotone_steps);
  if (kind == v1::TABLE_KIND_POSITION && HasClosedForm(**model)) {
    const auto exact = core::SinusoidalClosedForm(rows->dim(), (*model)->sinusoidal()->base,
                                                  static_cast<std::int64_t>(curve->mean.size()));
    response.mutable_closed_form()->Assign(exact.begin(), exact.end());
  }
  return response;
}

}  // namespace embd::service
