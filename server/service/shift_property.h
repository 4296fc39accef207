#ifndef EMBD_SERVER_SERVICE_SHIFT_PROPERTY_H_
#define EMBD_SERVER_SERVICE_SHIFT_PROPERTY_H_

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/positions.pb.h"
#include "server/core/engine/model_registry.h"

namespace embd::service {

/// Whether one linear map shifts a model's or a formula's positions. Errors: see ShiftProperty in diagnostics.proto,
/// and those of `interrupted`, which is asked now and then.
[[nodiscard]] absl::StatusOr<v1::ShiftPropertyResponse> AnswerShiftProperty(
    const core::ModelRegistry& models, const v1::ShiftPropertyRequest& request,
    absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_SHIFT_PROPERTY_H_
