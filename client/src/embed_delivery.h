#ifndef EMBD_CLIENT_SRC_EMBED_DELIVERY_H_
#define EMBD_CLIENT_SRC_EMBED_DELIVERY_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "client/src/reply_sink.h"
#include "embd/client/embedding.h"
#include "grpcpp/support/byte_buffer.h"

namespace embd::client {

/// Hands the tensor of a received EmbedResponse to `sink`. Where the request had a `target`, the server has put it
/// there, and `sink` gets no bytes.
///
/// Errors:
///   INTERNAL  the reply makes no sense, or is not for such a target; `sink` is not called then.
///   Besides those of `sink`.
[[nodiscard]] absl::StatusOr<EmbedInfo> Deliver(grpc::ByteBuffer* reply,
                                                const std::optional<SharedMemoryTarget>& target, ReplySink* sink);

/// Memory for a tensor, with unspecified content: what is filled at once need not be cleared before.
///
/// Errors:
///   RESOURCE_EXHAUSTED  there is not enough.
[[nodiscard]] absl::StatusOr<std::unique_ptr<std::byte[]>> Allocate(std::size_t byte_size);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_EMBED_DELIVERY_H_
