#ifndef EMBD_SERVER_SERVICE_SINUSOIDAL_FORMULA_H_
#define EMBD_SERVER_SERVICE_SINUSOIDAL_FORMULA_H_

#include "absl/status/statusor.h"
#include "embd/v1/positions.pb.h"
#include "server/core/position/sinusoidal.h"

namespace embd::service {

/// The formula that a request gives; where its columns stand does not matter.
///
/// Errors: INVALID_ARGUMENT [INVALID_OPTION] an embedding_dim or a base outside its range.
[[nodiscard]] absl::StatusOr<core::SinusoidalFormula> ToFormula(const v1::SinusoidalFormula& given);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_SINUSOIDAL_FORMULA_H_
