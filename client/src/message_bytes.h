#ifndef EMBD_CLIENT_SRC_MESSAGE_BYTES_H_
#define EMBD_CLIENT_SRC_MESSAGE_BYTES_H_

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/support/byte_buffer.h"

namespace embd::client {

/// The encoding of a message, as gRPC sends it.
///
/// Errors:
///   INVALID_ARGUMENT  it has more than 2^31 - 1 bytes, which neither protobuf nor gRPC can carry.
[[nodiscard]] absl::StatusOr<grpc::ByteBuffer> ToBytes(const google::protobuf::MessageLite& message);

/// The encoding whose beginning is `header` and whose rest is `payload`; both are copied. Errors as above.
[[nodiscard]] absl::StatusOr<grpc::ByteBuffer> JoinBytes(const std::string& header, std::span<const std::byte> payload);

/// Reads a received message. `bytes` is left as it is.
///
/// Errors:
///   INTERNAL  there is none, or the bytes are no such message.
[[nodiscard]] absl::Status FromBytes(grpc::ByteBuffer* bytes, google::protobuf::MessageLite* message);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_MESSAGE_BYTES_H_
