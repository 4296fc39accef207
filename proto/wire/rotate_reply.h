#ifndef EMBD_PROTO_WIRE_ROTATE_REPLY_H_
#define EMBD_PROTO_WIRE_ROTATE_REPLY_H_

#include "absl/status/statusor.h"
#include "embd/v1/rotary.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "proto/wire/payload_scan.h"

namespace embd::wire {

/// A RotateResponse whose `vectors.data` is still where it was received.
struct RotateReply {
  v1::RotateResponse response;
  Payload payload;
};

/// Reads all but the tensor's elements. `bytes` is left as it is.
///
/// Errors:
///   INTERNAL  as ReadEmbedReply.
[[nodiscard]] absl::StatusOr<RotateReply> ReadRotateReply(grpc::ByteBuffer* bytes);

}  // namespace embd::wire

#endif  // EMBD_PROTO_WIRE_ROTATE_REPLY_H_
