#ifndef EMBD_SERVER_OIP_INPUT_TENSORS_H_
#define EMBD_SERVER_OIP_INPUT_TENSORS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "inference/grpc_service.pb.h"
#include "server/oip/servable.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::oip {

/// The inputs of a request, in the order of the signature. Raw contents are taken out of `request`; typed ones and
/// those in shared memory are copied, so that what is checked is what is used.
///
/// Checked in this order: names; inputs that are missing; then each input by itself: where its data is, datatype,
/// shape, size; at last that no raw contents are left over. Messages are Triton's.
///
/// Errors:
///   INVALID_ARGUMENT    [INVALID_OPTION] an unknown, repeated or missing input, raw contents beside typed ones, typed
///                       ones in the field of another datatype, a datatype that the input does not take;
///                       [INVALID_SHAPE] a shape that the input does not take, too many or too few bytes
///   RESOURCE_EXHAUSTED  [REQUEST_TOO_LARGE] an input in shared memory of more than max_request_bytes
///   Besides those of FindRegionSpan and CheckUndamaged.
[[nodiscard]] absl::StatusOr<std::vector<InputTensor>> ReadInputs(const service::Backend& backend,
                                                                  const service::Call& call, const Servable& servable,
                                                                  ::inference::ModelInferRequest* request);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_INPUT_TENSORS_H_
