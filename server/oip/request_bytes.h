#ifndef EMBD_SERVER_OIP_REQUEST_BYTES_H_
#define EMBD_SERVER_OIP_REQUEST_BYTES_H_

#include "absl/status/status.h"
#include "grpcpp/support/byte_buffer.h"

namespace embd::oip {

/// Looks at the outermost fields of an encoded ModelInferRequest before it is decoded: an input of two bytes on the
/// wire takes some two hundred in memory, so that their number must be bounded. Cost: one pass over the fields, whose
/// contents are skipped.
///
/// Errors: INVALID_ARGUMENT [INVALID_OPTION] more than 64 inputs, outputs or raw contents, or more than 256 parameters.
[[nodiscard]] absl::Status CheckFieldCounts(const grpc::ByteBuffer& request);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_REQUEST_BYTES_H_
