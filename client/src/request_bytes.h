#ifndef EMBD_CLIENT_SRC_REQUEST_BYTES_H_
#define EMBD_CLIENT_SRC_REQUEST_BYTES_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/client/embedding.h"
#include "grpcpp/support/byte_buffer.h"

namespace embd::client {

/// The encoding of a v1::EmbedRequest, as gRPC sends it. The elements of inputs_embeds are copied once.
///
/// Errors:
///   INVALID_ARGUMENT  it has more than 2^31 - 1 bytes.
[[nodiscard]] absl::StatusOr<grpc::ByteBuffer> RequestBytes(const EmbedRequest& request);

/// The same for a v1::EmbedStreamRequest.
[[nodiscard]] absl::StatusOr<grpc::ByteBuffer> StreamRequestBytes(const EmbedRequest& request,
                                                                  absl::string_view request_id);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_REQUEST_BYTES_H_
