#ifndef EMBD_CLIENT_CLI_LOAD_LATENCY_HISTOGRAM_H_
#define EMBD_CLIENT_CLI_LOAD_LATENCY_HISTOGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"

namespace embd::cli {

/// How long calls took, in memory that does not grow with their number: nanoseconds are counted in 128 equal steps
/// between each power of two and the next. What is read off lies within 0.4 % of the exact value; below 256 ns, and at
/// both ends, it is exact. Any duration from 0 on fits; negative ones count as 0, longer than 292 years as that.
///
/// Thread safety: thread-compatible. One a thread, merged at the end. Cost: 58 KiB each.
class LatencyHistogram {
 public:
  LatencyHistogram();

  void Record(absl::Duration latency);

  /// Counts what `other` has counted, as if it had been recorded here.
  void Merge(const LatencyHistogram& other);

  [[nodiscard]] std::int64_t count() const { return count_; }

  /// The smallest recorded value that `percent` of all values do not exceed: of N values in order that at rank
  /// ceil(N * percent / 100), counted from 1; for 0 the smallest. Zero where nothing was recorded.
  [[nodiscard]] absl::Duration Percentile(double percent) const;

  /// Exact; zero where nothing was recorded.
  [[nodiscard]] absl::Duration Min() const;
  [[nodiscard]] absl::Duration Max() const;
  [[nodiscard]] absl::Duration Mean() const;

 private:
  std::vector<std::int64_t> counts_;
  std::int64_t count_ = 0;
  std::uint64_t min_ns_;
  std::uint64_t max_ns_ = 0;
  double sum_ns_ = 0;
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_LATENCY_HISTOGRAM_H_
