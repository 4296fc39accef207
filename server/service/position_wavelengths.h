#ifndef EMBD_SERVER_SERVICE_POSITION_WAVELENGTHS_H_
#define EMBD_SERVER_SERVICE_POSITION_WAVELENGTHS_H_

#include "absl/status/statusor.h"
#include "embd/v1/positions.pb.h"
#include "server/core/engine/model_registry.h"

namespace embd::service {

/// How fast the bands of a model's or a formula's positions turn. Errors: see PositionWavelengths in diagnostics.proto.
[[nodiscard]] absl::StatusOr<v1::PositionWavelengthsResponse> AnswerPositionWavelengths(
    const core::ModelRegistry& models, const v1::PositionWavelengthsRequest& request);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_POSITION_WAVELENGTHS_H_
