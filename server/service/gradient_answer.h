#ifndef EMBD_SERVER_SERVICE_GRADIENT_ANSWER_H_
#define EMBD_SERVER_SERVICE_GRADIENT_ANSWER_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "server/service/backend.h"

namespace embd::service {

/// The gradients of a model's tables: of a batch on the workers' threads, through the output projection, which may take
/// minutes, on those of the diagnostics. Runs on any thread. Errors: see Gradient in embedding.proto, and those of
/// `interrupted`, which is asked now and then.
[[nodiscard]] absl::StatusOr<v1::GradientResponse> AnswerGradient(Backend& backend, const v1::GradientRequest& request,
                                                                  absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_GRADIENT_ANSWER_H_
