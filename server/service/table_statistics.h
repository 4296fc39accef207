#ifndef EMBD_SERVER_SERVICE_TABLE_STATISTICS_H_
#define EMBD_SERVER_SERVICE_TABLE_STATISTICS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/statistics.pb.h"
#include "server/core/engine/model_registry.h"
#include "server/service/worker_pool.h"

namespace embd::service {

/// The statistics of one of a model's tables, computed on this thread and those of `pool` that are free. Errors: see
/// TableStatistics in diagnostics.proto, and those of `interrupted`, which is asked now and then.
[[nodiscard]] absl::StatusOr<v1::TableStatisticsResponse> AnswerTableStatistics(
    const core::ModelRegistry& models, WorkerPool& pool, const v1::TableStatisticsRequest& request,
    absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_TABLE_STATISTICS_H_
