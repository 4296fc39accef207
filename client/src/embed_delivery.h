#ifndef EMBD_CLIENT_SRC_EMBED_DELIVERY_H_
#define EMBD_CLIENT_SRC_EMBED_DELIVERY_H_

#include <cstddef>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "embd/client/transport.h"
#include "grpcpp/support/byte_buffer.h"

namespace embd::client {

/// Puts the tensor of a received EmbedResponse where `place` says. Where the request had a `target`, the server has put
/// it there, and `place` is asked for no bytes.
///
/// Errors:
///   INTERNAL  the reply makes no sense, or is not for such a target; `place` is not called then.
///   Besides those of `place`.
[[nodiscard]] absl::StatusOr<EmbedInfo> Deliver(grpc::ByteBuffer* reply,
                                                const std::optional<SharedMemoryTarget>& target,
                                                const Transport::Place& place);

/// Memory for a tensor, with unspecified content: what is filled at once need not be cleared before.
///
/// Errors:
///   RESOURCE_EXHAUSTED  there is not enough.
[[nodiscard]] absl::StatusOr<std::unique_ptr<std::byte[]>> Allocate(std::size_t byte_size);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_EMBED_DELIVERY_H_
