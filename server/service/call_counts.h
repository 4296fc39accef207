#ifndef EMBD_SERVER_SERVICE_CALL_COUNTS_H_
#define EMBD_SERVER_SERVICE_CALL_COUNTS_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "server/service/method.h"

namespace embd::service {

/// Counts the calls of each method: how many began, how they ended, and how long they took.
///
/// Thread safety: thread-safe. Counting takes a few atomic additions and no memory.
class CallCounts {
 public:
  static constexpr std::size_t kCodes = 17;  ///< gRPC's status codes: 0 to 16
  /// The upper ends of the buckets of durations, in seconds; the last bucket has none.
  static constexpr std::array kBucketEnds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                             0.1,    0.25,    0.5,    1.0,   2.5,    5.0,   10.0, 30.0,  60.0};

  /// What was counted of one method.
  struct Of {
    std::uint64_t started = 0;
    std::array<std::uint64_t, kCodes> ended{};                      ///< by status code
    std::array<std::uint64_t, kBucketEnds.size() + 1> durations{};  ///< how many took how long, not cumulated
    std::chrono::nanoseconds sum{0};                                ///< of all durations
  };

  /// Which bucket a duration falls into.
  [[nodiscard]] static std::size_t BucketOf(std::chrono::nanoseconds duration);

  CallCounts();

  void CountStart(Method method);
  void CountEnd(Method method, absl::StatusCode code, std::chrono::nanoseconds duration);

  /// The counts of a method. Those of calls that begin or end meanwhile may be there in part.
  [[nodiscard]] Of Get(Method method) const;

 private:
  struct Atomic {
    std::atomic<std::uint64_t> started = 0;
    std::array<std::atomic<std::uint64_t>, kCodes> ended{};
    std::array<std::atomic<std::uint64_t>, kBucketEnds.size() + 1> durations{};
    std::atomic<std::int64_t> sum_ns = 0;
  };
  std::vector<Atomic> methods_;  // by Method
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_CALL_COUNTS_H_
