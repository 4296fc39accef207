#ifndef EMBD_SERVER_SERVICE_NEAREST_TOKENS_H_
#define EMBD_SERVER_SERVICE_NEAREST_TOKENS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/nearest.pb.h"
#include "server/core/engine/model_registry.h"
#include "server/service/worker_pool.h"

namespace embd::service {

/// The rows of one of a model's tables that are nearest to what a request asks for, found with the threads of `pool`.
/// Errors: see NearestTokens in diagnostics.proto, and those of `interrupted`, which is asked now and then.
[[nodiscard]] absl::StatusOr<v1::NearestTokensResponse> AnswerNearestTokens(
    const core::ModelRegistry& models, WorkerPool& pool, const v1::NearestTokensRequest& request,
    absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_NEAREST_TOKENS_H_
