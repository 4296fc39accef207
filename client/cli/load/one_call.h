#ifndef EMBD_CLIENT_CLI_LOAD_ONE_CALL_H_
#define EMBD_CLIENT_CLI_LOAD_ONE_CALL_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cli/load/batches.h"
#include "embd/client/caching_client.h"
#include "embd/client/client.h"

namespace embd::cli {

/// One way to ask for a batch and to wait for its tensor. Each caller has one of its own, with the memory that its
/// tensors go to.
///
/// Thread safety: thread-compatible.
class OneCall {
 public:
  virtual ~OneCall() = default;

  /// Errors: those of the call; INTERNAL where the tensor is not what the batch must come to.
  [[nodiscard]] virtual absl::Status Ask(const Batch& batch, const client::CallOptions& options) = 0;
};

/// Client::EmbedInto, into memory of `most_bytes`.
[[nodiscard]] std::unique_ptr<OneCall> MakeUnaryCall(client::Client client, std::size_t most_bytes);

/// Client::EmbedToRegion, into a region of shared memory of `most_bytes` that it makes, and unregisters in the end. The
/// request is copied for each call, which then names the region.
///
/// Errors: those of SharedRegion::Create.
[[nodiscard]] absl::StatusOr<std::unique_ptr<OneCall>> MakeRegionCall(const client::Client& client,
                                                                      std::size_t most_bytes);

/// CachingClient::EmbedInto, into memory of `most_bytes`. Calls of copies of one `client` share its cache.
[[nodiscard]] std::unique_ptr<OneCall> MakeCachedCall(client::CachingClient client, std::size_t most_bytes);

/// Checks what a reply says of its tensor, and its size.
///
/// Errors:
///   INTERNAL  the shape, the type or the number of bytes is not what the batch must come to; names both.
[[nodiscard]] absl::Status CheckReply(const Batch& batch, const client::EmbedInfo& info, std::size_t byte_size);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_ONE_CALL_H_
