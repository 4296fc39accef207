#ifndef EMBD_CLIENT_SRC_REQUEST_BYTES_H_
#define EMBD_CLIENT_SRC_REQUEST_BYTES_H_

#include <cstdint>
#include <string>

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

/// Which part of the result is asked for, and in what blocks; as in v1::EmbedChunksRequest.
struct Blocks {
  std::int64_t max_chunk_bytes;
  std::int64_t first_row;
};

/// The same for a v1::EmbedChunksRequest; of tables with that checksum only, unless it is empty.
[[nodiscard]] absl::StatusOr<grpc::ByteBuffer> ChunksRequestBytes(const EmbedRequest& request, const Blocks& blocks,
                                                                  const std::string& if_checksum);

/// The same for a v1::EmbedStreamRequest.
[[nodiscard]] absl::StatusOr<grpc::ByteBuffer> StreamRequestBytes(const EmbedRequest& request,
                                                                  absl::string_view request_id);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_REQUEST_BYTES_H_
