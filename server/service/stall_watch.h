#ifndef EMBD_SERVER_SERVICE_STALL_WATCH_H_
#define EMBD_SERVER_SERVICE_STALL_WATCH_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <list>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/string_view.h"
#include "grpcpp/grpcpp.h"
#include "server/core/threads/mutex.h"

namespace embd::service {

/// Ends calls whose replies wait too long for their readers, so that the memory of the replies comes back. Such a call
/// ends with CANCELLED; its message, and a line in the log, name max_stall. A thread of its own looks every eighth of
/// that time, and at least once a second.
///
/// Thread safety: thread-safe.
class StallWatch {
 public:
  /// What a call has waiting for its reader. To be made while the call's context lives, and to go before it: a member
  /// of the call's reactor.
  ///
  /// Thread safety: thread-compatible; the watch looks at it at any time. Cost: a lock and an allocation when it is
  /// made, a clock when a wait begins.
  class Reply {
   public:
    Reply(StallWatch* watch, absl::string_view method, grpc::CallbackServerContext* context);
    Reply(const Reply&) = delete;
    Reply& operator=(const Reply&) = delete;
    ~Reply();

    /// A message waits for the reader from now on.
    void BeginWait() { since_.store(Now(), std::memory_order_relaxed); }
    /// It has been read.
    void EndWait() { since_.store(0, std::memory_order_relaxed); }

   private:
    friend class StallWatch;

    StallWatch& watch_;
    const absl::string_view method_;
    grpc::CallbackServerContext& context_;
    std::atomic<std::int64_t> since_ = 0;  // ticks of the steady clock; 0: nothing waits
    std::list<Reply*>::iterator place_;
  };

  explicit StallWatch(std::chrono::nanoseconds max_stall);
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;
  ~StallWatch();

  [[nodiscard]] std::chrono::nanoseconds max_stall() const { return max_stall_; }

  /// How many calls have been ended so far.
  [[nodiscard]] std::int64_t ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  // A call that is kept from going away until it is cancelled.
  struct Stalled {
    grpc_call* call = nullptr;
    absl::string_view method;
  };

  [[nodiscard]] static std::int64_t Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
  void Run();
  [[nodiscard]] std::vector<Stalled> Find();
  void End(const std::vector<Stalled>& stalled);

  const std::chrono::nanoseconds max_stall_;
  std::atomic<std::int64_t> ended_ = 0;
  core::Mutex mutex_;
  core::Condition stop_;
  std::list<Reply*> replies_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_STALL_WATCH_H_
