#ifndef EMBD_SERVER_OIP_REPOSITORY_CALLS_H_
#define EMBD_SERVER_OIP_REPOSITORY_CALLS_H_

#include <chrono>

#include "absl/status/statusor.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/context.h"

// The calls about what the configuration names; errors are described in grpc_service.proto.
namespace embd::oip {

[[nodiscard]] absl::StatusOr<::inference::RepositoryIndexResponse> AnswerIndex(
    const Context& context, const ::inference::RepositoryIndexRequest& request);

/// Blocks until the model is loaded; `asked` as in ModelControl::LoadSince.
[[nodiscard]] absl::StatusOr<::inference::RepositoryModelLoadResponse> AnswerLoad(
    Context& context, const ::inference::RepositoryModelLoadRequest& request,
    std::chrono::steady_clock::time_point asked);

[[nodiscard]] absl::StatusOr<::inference::RepositoryModelUnloadResponse> AnswerUnload(
    Context& context, const ::inference::RepositoryModelUnloadRequest& request);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_REPOSITORY_CALLS_H_
