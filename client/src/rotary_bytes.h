#ifndef EMBD_CLIENT_SRC_ROTARY_BYTES_H_
#define EMBD_CLIENT_SRC_ROTARY_BYTES_H_

#include "absl/status/statusor.h"
#include "embd/client/rotary.h"
#include "grpcpp/support/byte_buffer.h"

// Rotary requests and replies as gRPC carries them.
namespace embd::client {

/// The encoding of a RotateRequest; the vectors are copied once.
///
/// Errors:
///   INVALID_ARGUMENT  it has more than 2^31 - 1 bytes.
[[nodiscard]] absl::StatusOr<grpc::ByteBuffer> ToBytes(const RotateRequest& request);

/// Reads a received RotateResponse; the elements are copied once.
///
/// Errors:
///   INTERNAL            the reply makes no sense
///   RESOURCE_EXHAUSTED  no memory for the elements
[[nodiscard]] absl::StatusOr<RotatedVectors> ReadRotated(grpc::ByteBuffer* reply);

/// Reads a received RotaryTableResponse; the elements are copied once.
///
/// Errors:
///   INTERNAL  the reply makes no sense
[[nodiscard]] absl::StatusOr<RotaryTable> ReadRotaryTable(grpc::ByteBuffer* reply);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_ROTARY_BYTES_H_
