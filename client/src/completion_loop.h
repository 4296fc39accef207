#ifndef EMBD_CLIENT_SRC_COMPLETION_LOOP_H_
#define EMBD_CLIENT_SRC_COMPLETION_LOOP_H_

#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "client/src/mutex.h"
#include "grpcpp/completion_queue.h"

namespace embd::client {

/// What becomes of an operation that runs without blocking; its address is the operation's tag.
class Completion {
 public:
  virtual ~Completion() = default;

  /// Called once, on the loop's thread. May delete the object.
  virtual void Done(bool ok) = 0;
};

/// The queue of a CompletionLoop, for operations whose tags are `Completion`s. It may outlive the loop.
///
/// Thread safety: thread-safe.
class OpenQueue {
 public:
  /// Calls `start`, which starts operations on the queue it is given; false, and no call, once the loop is going away.
  template <typename Start>
  bool Use(Start start) {
    const MutexLock lock(&mutex_);
    if (closed_) return false;
    start(&queue_);
    return true;
  }

 private:
  friend class CompletionLoop;
  void Close();

  Mutex mutex_;
  bool closed_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::CompletionQueue queue_;
};

/// One thread that waits for operations and completes them; it starts with the first use.
///
/// gRPC's callback API is not used because its threads join themselves, and hang, if the last reference to a channel
/// goes away on one of them; a client that is dropped in a callback would do that.
///
/// Thread safety: thread-safe. Destruction waits for the operations that are under way, except on the loop's own
/// thread, where they are completed later.
class CompletionLoop {
 public:
  CompletionLoop() = default;
  ~CompletionLoop();
  CompletionLoop(const CompletionLoop&) = delete;
  CompletionLoop& operator=(const CompletionLoop&) = delete;

  /// The queue.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  no thread can be started.
  [[nodiscard]] absl::StatusOr<std::shared_ptr<OpenQueue>> Queue();

 private:
  Mutex mutex_;
  // Shared with the thread and its operations, which may outlive the loop.
  std::shared_ptr<OpenQueue> queue_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_COMPLETION_LOOP_H_
