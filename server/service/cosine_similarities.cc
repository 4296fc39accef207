#include "server/service/cosine_similarities.h"

#include <cstdint>

#include "server/core/diagnostics/cosine_similarities.h"
#include "server/service/shared_work.h"
#include "server/service/table_choice.h"

namespace embd::service {

absl::StatusOr<v1::CosineSimilaritiesResponse> AnswerCosineSimilarities(const core::ModelRegistry& models,
                                                                        WorkerPool& pool,
                                                                        const v1::CosineSimilaritiesRequest& request,
                                                                        absl::FunctionRef<absl::Status()> interrupted) {
  const auto model = models.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  const auto chosen = ChooseTable(**model, request.table(),
                                  (*model)->position() != nullptr ? v1::TABLE_KIND_POSITION : v1::TABLE_KIND_TOKEN);
  if (!chosen.ok()) return chosen.status();
  const auto matrix = core::CosineSimilarities(*chosen->table,
                                               {.first_row = request.first_row(),
                                                .row_count = request.row_count(),
                                                .row_ids = {request.row_ids().begin(), request.row_ids().end()}},
                                               [&](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
                                                 return ShareWork(pool, count, piece, interrupted);
                                               });
  if (!matrix.ok()) return matrix.status();
  if (absl::Status status = (*model)->CheckUndamaged(); !status.ok()) return status;

  v1::CosineSimilaritiesResponse response;
  response.set_model((*model)->name());
  response.set_model_version((*model)->version());
  response.set_table(chosen->kind);
  response.mutable_row_ids()->Assign(matrix->row_ids.begin(), matrix->row_ids.end());
  const auto rows = static_cast<std::int64_t>(matrix->row_ids.size());
  v1::Tensor& cosines = *response.mutable_cosines();
  cosines.set_data_type(v1::DATA_TYPE_FLOAT32);
  cosines.add_shape(rows);
  cosines.add_shape(rows);
  cosines.set_data(matrix->cosines.data(), matrix->cosines.size() * sizeof(float));
  return response;
}

}  // namespace embd::service
