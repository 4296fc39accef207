#ifndef EMBD_SERVER_SERVICE_LOOK_UP_TOKENS_H_
#define EMBD_SERVER_SERVICE_LOOK_UP_TOKENS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/diagnostics.pb.h"
#include "server/core/engine/model_registry.h"

namespace embd::service {

/// Words -> ids through the model's vocabulary. Errors: see LookUpTokens in diagnostics.proto, and those of
/// `interrupted`, which is asked now and then.
[[nodiscard]] absl::StatusOr<v1::LookUpTokensResponse> AnswerLookUpTokens(
    const core::ModelRegistry& models, const v1::LookUpTokensRequest& request,
    absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_LOOK_UP_TOKENS_H_
