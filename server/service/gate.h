#ifndef EMBD_SERVER_SERVICE_GATE_H_
#define EMBD_SERVER_SERVICE_GATE_H_

#include <atomic>
#include <chrono>
#include <cstdint>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "server/service/access.h"
#include "server/service/call_counts.h"
#include "server/service/method.h"
#include "server/service/stall_watch.h"

namespace embd::service {

/// What every call passes on its way in and out: whether the caller may, whether there is room, and what is counted.
///
/// Thread safety: thread-safe.
class Gate {
 public:
  /// What may be queued or worked on at a time, and how long a reply may wait for its reader.
  struct Limits {
    std::int64_t max_calls = 10'000;
    std::int64_t max_request_bytes = std::int64_t{1} << 30;
    std::chrono::nanoseconds max_stall = std::chrono::seconds(60);
  };

  Gate() : Gate(Limits{}) {}
  explicit Gate(Limits limits) : limits_(limits), stalls_(limits.max_stall) {}

  /// Counts the start of a call, and lets it in or not. Errors: those of Access::Check.
  [[nodiscard]] absl::Status Enter(Method method, const grpc::CallbackServerContext& context);

  /// Takes room for a request that is to be answered: of a unary call, or an item of a stream, which takes none while
  /// it is idle. Room that was taken must be given back, once.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [OVERLOADED] calls or bytes of requests exceed the limits; names which. No room is taken.
  [[nodiscard]] absl::Status TakeRoom(std::int64_t request_bytes);

  /// Counts further bytes of a request, beside `own` that it counts for already: the memory that it takes once it is
  /// decoded. A request alone always may.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [OVERLOADED] as TakeRoom; nothing is counted then.
  [[nodiscard]] absl::Status AddBytes(std::int64_t bytes, std::int64_t own);
  void RemoveBytes(std::int64_t bytes) { request_bytes_.fetch_sub(bytes); }

  /// Gives room back, with all bytes that are counted for the request.
  void GiveBackRoom(std::int64_t request_bytes);

  /// Counts how a call ended, whether it was let in or not.
  void CountEnd(Method method, absl::StatusCode code, std::chrono::nanoseconds duration) {
    counts_.CountEnd(method, code, duration);
  }

  [[nodiscard]] Access& access() { return access_; }
  [[nodiscard]] const CallCounts& counts() const { return counts_; }
  [[nodiscard]] StallWatch& stalls() { return stalls_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  /// Requests that have room now, and their bytes.
  [[nodiscard]] std::int64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t request_bytes() const { return request_bytes_.load(std::memory_order_relaxed); }

 private:
  const Limits limits_;
  Access access_;
  CallCounts counts_;
  StallWatch stalls_;
  std::atomic<std::int64_t> calls_ = 0;
  std::atomic<std::int64_t> request_bytes_ = 0;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_GATE_H_
