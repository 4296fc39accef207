#ifndef EMBD_CLIENT_SRC_OWN_QUEUE_H_
#define EMBD_CLIENT_SRC_OWN_QUEUE_H_

#include "grpcpp/completion_queue.h"

namespace embd::client {

/// The completion queue of one blocking call, whose thread so polls the connection itself.
///
/// Thread safety: not thread-safe. Destruction waits for the operations that have been started.
class OwnQueue {
 public:
  OwnQueue() = default;
  OwnQueue(const OwnQueue&) = delete;
  OwnQueue& operator=(const OwnQueue&) = delete;
  ~OwnQueue() {
    queue_.Shutdown();
    void* tag = nullptr;
    bool ok = false;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  [[nodiscard]] grpc::CompletionQueue* get() { return &queue_; }

  /// Waits for the one operation that is under way; returns whether it went well.
  bool Wait() {
    void* tag = nullptr;
    bool ok = false;
    return queue_.Next(&tag, &ok) && ok;
  }

 private:
  grpc::CompletionQueue queue_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_OWN_QUEUE_H_
