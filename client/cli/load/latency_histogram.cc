#include "client/cli/load/latency_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace embd::cli {
namespace {

constexpr int kStepBits = 7;
constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
constexpr int kValueBits = 63;  // of a nanosecond count that is not negative
constexpr std::size_t kBuckets = (kValueBits - kStepBits + 1) * kSteps;

// By how many bits a value is shortened: all but its leading one and seven more.
int ShiftOf(std::uint64_t ns) { return std::max(0, static_cast<int>(std::bit_width(ns)) - (kStepBits + 1)); }

std::size_t BucketOf(std::uint64_t ns) {
  const int shift = ShiftOf(ns);
  return static_cast<std::size_t>(shift) * kSteps + static_cast<std::size_t>(ns >> shift);
}

// The middle of what a bucket counts.
std::uint64_t ValueOf(std::size_t bucket) {
  if (bucket < 2 * kSteps) return bucket;
  const std::size_t shift = bucket / kSteps - 1;
  const std::uint64_t first = static_cast<std::uint64_t>(bucket - shift * kSteps) << shift;
  return first + ((std::uint64_t{1} << shift) - 1) / 2;
}

absl::Duration FromNs(std::uint64_t ns) { return absl::Nanoseconds(static_cast<std::int64_t>(ns)); }

}  // namespace

LatencyHistogram::LatencyHistogram() : counts_(kBuckets, 0), min_ns_(std::numeric_limits<std::uint64_t>::max()) {}

void LatencyHistogram::Record(absl::Duration latency) {
  const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, absl::ToInt64Nanoseconds(latency)));
  ++counts_[BucketOf(ns)];
  ++count_;
  min_ns_ = std::min(min_ns_, ns);
  max_ns_ = std::max(max_ns_, ns);
  sum_ns_ += static_cast<double>(ns);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ns_ = std::min(min_ns_, other.min_ns_);
  max_ns_ = std::max(max_ns_, other.max_ns_);
  sum_ns_ += other.sum_ns_;
}

absl::Duration LatencyHistogram::Percentile(double percent) const {
  if (count_ == 0) return absl::ZeroDuration();
  const double wanted = std::ceil(static_cast<double>(count_) * percent / 100);
  if (wanted <= 1) return Min();
  if (wanted >= static_cast<double>(count_)) return Max();
  const auto rank = static_cast<std::int64_t>(wanted);
  std::int64_t seen = 0;
  for (std::size_t i = BucketOf(min_ns_); i < counts_.size(); ++i) {
    seen += counts_[i];
    if (seen >= rank) return FromNs(std::clamp(ValueOf(i), min_ns_, max_ns_));
  }
  return Max();
}

absl::Duration LatencyHistogram::Min() const { return count_ == 0 ? absl::ZeroDuration() : FromNs(min_ns_); }

absl::Duration LatencyHistogram::Max() const { return FromNs(max_ns_); }

absl::Duration LatencyHistogram::Mean() const {
  return count_ == 0 ? absl::ZeroDuration() : absl::Nanoseconds(sum_ns_ / static_cast<double>(count_));
}

}  // namespace embd::cli
