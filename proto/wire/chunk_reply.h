#ifndef EMBD_PROTO_WIRE_CHUNK_REPLY_H_
#define EMBD_PROTO_WIRE_CHUNK_REPLY_H_

#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "proto/wire/payload_scan.h"

namespace embd::wire {

/// An EmbedChunksResponse whose `data` is still where it was received.
struct ChunkReply {
  v1::EmbedChunksResponse message;
  Payload payload;
};

/// Reads all but the rows. `bytes` is left as it is. Whether messages follow each other as they should is for the
/// caller to see.
///
/// Cost: one pass over the slices; the rows are not touched.
/// Hostile bytes: as payload_scan.h.
/// Errors:
///   INTERNAL  the bytes are no such message; first_row or row_count is negative; the header, where there is one,
///             has no known type, a negative extent, no extent at all, or totals that its shape and type contradict.
[[nodiscard]] absl::StatusOr<ChunkReply> ReadChunkReply(grpc::ByteBuffer* bytes);

}  // namespace embd::wire

#endif  // EMBD_PROTO_WIRE_CHUNK_REPLY_H_
