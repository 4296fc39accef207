#include "server/service/table_statistics.h"

#include <cstdint>
#include <vector>

#include "server/core/diagnostics/table_statistics.h"
#include "server/service/describe.h"
#include "server/service/shared_work.h"
#include "server/service/table_choice.h"

namespace embd::service {
namespace {

void Assign(const std::vector<std::int64_t>& rows, google::protobuf::RepeatedField<std::int64_t>* field) {
  field->Assign(rows.begin(), rows.end());
}

void Describe(const core::ModelTable& entry, v1::TableStatisticsResponse* response) {
  response->set_rows(entry.table.rows());
  response->set_embedding_dim(entry.table.dim());
  response->set_data_type(ToDataType(entry.table.element_type()));
  response->set_parameter_count(entry.trainable ? entry.table.element_count() : 0);
  response->set_byte_size(static_cast<std::int64_t>(entry.table.bytes().size()));
  response->set_checksum(entry.checksum);
}

void Put(const core::TableStatistics& statistics, v1::TableStatisticsResponse* response) {
  response->set_mean(statistics.elements.mean);
  response->set_std(statistics.elements.Deviation());
  response->set_min(statistics.elements.min);
  response->set_max(statistics.elements.max);
  response->set_norm_mean(statistics.norms.mean);
  response->set_norm_std(statistics.norms.Deviation());
  response->set_norm_min(statistics.norms.min);
  response->set_norm_max(statistics.norms.max);
  response->set_nan_count(statistics.nan_count);
  response->set_inf_count(statistics.inf_count);
  response->set_zero_rows(statistics.zero_rows);
  response->set_duplicate_rows(statistics.duplicates.count);
  if (const auto& cell = statistics.first_bad_cell; cell.has_value()) {
    response->add_first_bad_cell(cell->first);
    response->add_first_bad_cell(cell->second);
  }
  response->mutable_histogram_edges()->Assign(statistics.histogram.edges.begin(), statistics.histogram.edges.end());
  Assign(statistics.histogram.counts, response->mutable_histogram_counts());
  Assign(statistics.bad_rows, response->mutable_bad_rows());
  Assign(statistics.first_zero_rows, response->mutable_first_zero_rows());
  Assign(statistics.duplicates.first, response->mutable_first_duplicate_rows());
  Assign(statistics.duplicates.of, response->mutable_duplicates_of());
}

}  // namespace

absl::StatusOr<v1::TableStatisticsResponse> AnswerTableStatistics(const core::ModelRegistry& models, WorkerPool& pool,
                                                                  const v1::TableStatisticsRequest& request,
                                                                  absl::FunctionRef<absl::Status()> interrupted) {
  const auto model = models.Find(request.model(), request.model_version());
  if (!model.ok()) return model.status();
  const auto chosen = ChooseTable(**model, request.table(), v1::TABLE_KIND_TOKEN);
  if (!chosen.ok()) return chosen.status();
  const auto statistics = core::ComputeTableStatistics(
      *chosen->table, request.histogram_bins(), [&](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
        return ShareWork(pool, count, piece, interrupted);
      });
  if (!statistics.ok()) return statistics.status();
  if (absl::Status status = (*model)->CheckUndamaged(); !status.ok()) return status;

  v1::TableStatisticsResponse response;
  response.set_model((*model)->name());
  response.set_model_version((*model)->version());
  response.set_table(chosen->kind);
  Describe(*chosen->entry, &response);
  Put(*statistics, &response);
  return response;
}

}  // namespace embd::service
