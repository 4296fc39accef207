#ifndef EMBD_SERVER_SERVICE_SIMILARITY_H_
#define EMBD_SERVER_SERVICE_SIMILARITY_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/diagnostics.pb.h"
#include "server/core/engine/model_registry.h"

namespace embd::service {

/// The neighbour curve of one of a model's tables. Errors: see NeighbourSimilarity in diagnostics.proto, and those of
/// `interrupted`, which is asked now and then.
[[nodiscard]] absl::StatusOr<v1::NeighbourSimilarityResponse> AnswerNeighbourSimilarity(
    const core::ModelRegistry& models, const v1::NeighbourSimilarityRequest& request,
    absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_SIMILARITY_H_
