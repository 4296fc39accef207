#ifndef EMBD_SERVER_OIP_REQUESTED_OUTPUTS_H_
#define EMBD_SERVER_OIP_REQUESTED_OUTPUTS_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/infer_parameters.h"
#include "server/oip/servable.h"

namespace embd::oip {

/// An output that a request asks for, and where it is to go.
struct RequestedOutput {
  OutputRequest request;
  std::optional<RegionPart> part;  ///< unset: into the reply
};

/// The outputs of a request in its order; those of the signature that are not optional where it names none.
///
/// Errors: INVALID_ARGUMENT [INVALID_OPTION] an unknown or repeated output, or one with a parameter that is wrong or
/// not supported; typed_output with a datatype other than FP32 and FP64.
[[nodiscard]] absl::StatusOr<std::vector<RequestedOutput>> ReadOutputs(const Servable& servable,
                                                                       const InferParameters& parameters,
                                                                       const ::inference::ModelInferRequest& request);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_REQUESTED_OUTPUTS_H_
