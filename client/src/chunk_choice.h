#ifndef EMBD_CLIENT_SRC_CHUNK_CHOICE_H_
#define EMBD_CLIENT_SRC_CHUNK_CHOICE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "client/src/mutex.h"
#include "embd/client/embedding.h"
#include "embd/client/options.h"

namespace embd::client {

/// Decides which calls of Embed go by EmbedChunks: those whose reply has half a MiB or more, from where on blocks are
/// faster than one message. A reply's size depends on the model's width, which is learned from replies; before the
/// first one, 256 cells count as much.
///
/// Thread safety: thread-safe.
class ChunkChoice {
 public:
  [[nodiscard]] bool UseChunks(const EmbedRequest& request, const CallOptions& options) const;

  /// Notes the width that a reply of `model` has. Of at most 1,024 models; one more, and those before are forgotten.
  void Learn(const std::string& model, const EmbedInfo& info);

  /// Notes that the server knows no EmbedChunks: it is not tried again unless a call insists.
  void ServerHasNoChunks() { server_has_chunks_.store(false, std::memory_order_relaxed); }

 private:
  mutable Mutex mutex_;
  std::unordered_map<std::string, std::int64_t> dims_ ABSL_GUARDED_BY(mutex_);
  std::atomic<bool> server_has_chunks_ = true;
};

/// Rows of the result of that request, as far as it says; it is not checked.
[[nodiscard]] std::int64_t ExpectedRows(const EmbedRequest& request);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CHUNK_CHOICE_H_
