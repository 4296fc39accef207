#ifndef EMBD_PROTO_WIRE_EMBED_REPLY_H_
#define EMBD_PROTO_WIRE_EMBED_REPLY_H_

#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/byte_buffer.h"
#include "proto/wire/payload_scan.h"

// Reads replies so that their tensor is copied once, from the received slices to where the caller wants it. The
// counterpart of frame.h; but any valid encoding is read, in whatever order its fields come.
//
// Hostile bytes: nothing outside the buffer is read, and nothing is allocated that is larger than the buffer.
namespace embd::wire {

/// An EmbedResponse whose `embeddings.data` is still where it was received. `payload` is empty where `response.written`
/// says that the elements stand elsewhere.
struct EmbedReply {
  v1::EmbedResponse response;
  Payload payload;
};

/// An EmbedStreamResponse, likewise. `payload` is empty where `item` is an error.
struct StreamReply {
  v1::EmbedStreamResponse item;
  Payload payload;
};

/// Reads all but the tensor's elements. `bytes` is left as it is.
///
/// Cost: one pass over the slices; the elements are not touched.
/// Errors:
///   INTERNAL  the bytes are no such message, or the tensor has no known type, a negative extent, or another size than
///             its shape says.
[[nodiscard]] absl::StatusOr<EmbedReply> ReadEmbedReply(grpc::ByteBuffer* bytes);

/// The same for an item of a stream.
///
/// Errors:
///   INTERNAL  as ReadEmbedReply; or the item is neither an error nor a response, or both.
[[nodiscard]] absl::StatusOr<StreamReply> ReadStreamReply(grpc::ByteBuffer* bytes);

}  // namespace embd::wire

#endif  // EMBD_PROTO_WIRE_EMBED_REPLY_H_
