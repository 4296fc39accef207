#include "server/service/call_counts.h"

#include <algorithm>

namespace embd::service {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

std::size_t CallCounts::BucketOf(std::chrono::nanoseconds duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  return static_cast<std::size_t>(std::lower_bound(kBucketEnds.begin(), kBucketEnds.end(), seconds) -
                                  kBucketEnds.begin());
}

CallCounts::CallCounts() : methods_(Methods().size()) {}

void CallCounts::CountStart(Method method) {
  methods_[static_cast<std::size_t>(method)].started.fetch_add(1, kRelaxed);
}

void CallCounts::CountEnd(Method method, absl::StatusCode code, std::chrono::nanoseconds duration) {
  Atomic& counts = methods_[static_cast<std::size_t>(method)];
  const auto index = static_cast<std::size_t>(code);
  counts.ended[index < kCodes ? index : static_cast<std::size_t>(absl::StatusCode::kUnknown)].fetch_add(1, kRelaxed);
  counts.durations[BucketOf(duration)].fetch_add(1, kRelaxed);
  counts.sum_ns.fetch_add(duration.count(), kRelaxed);
}

CallCounts::Of CallCounts::Get(Method method) const {
  const Atomic& counts = methods_[static_cast<std::size_t>(method)];
  Of copy;
  copy.started = counts.started.load(kRelaxed);
  for (std::size_t i = 0; i < copy.ended.size(); ++i) copy.ended[i] = counts.ended[i].load(kRelaxed);
  for (std::size_t i = 0; i < copy.durations.size(); ++i) copy.durations[i] = counts.durations[i].load(kRelaxed);
  copy.sum = std::chrono::nanoseconds(counts.sum_ns.load(kRelaxed));
  return copy;
}

}  // namespace embd::service
