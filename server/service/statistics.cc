// Hot path: no lock that another request holds for long, no allocation per row, no log line above debug.
#include "server/service/statistics.h"

#include <algorithm>

namespace embd::service {
namespace {

std::int64_t MillisecondsSinceEpoch(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// A vector, since who reads the counts holds the lock for a copy of it.
ModelCounts::Batch& OfSize(std::int64_t size, std::vector<ModelCounts::Batch>& batches) {
  const auto found = std::lower_bound(batches.begin(), batches.end(), size,
                                      [](const ModelCounts::Batch& batch, std::int64_t s) { return batch.size < s; });
  if (found != batches.end() && found->size == size) return *found;
  return *batches.insert(found, {.size = size});
}

}  // namespace

FailureReason ReasonOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnavailable: return FailureReason::kRejected;
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kDeadlineExceeded: return FailureReason::kCanceled;
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss: return FailureReason::kBackend;
    default: return FailureReason::kOther;
  }
}

void Statistics::Open(const std::string& name, const std::string& version) {
  const core::MutexLock lock(&mutex_);
  models_[name].version = version;
}

void Statistics::SetLoadTime(const std::string& name, std::chrono::nanoseconds load_time) {
  const core::MutexLock lock(&mutex_);
  if (const auto found = models_.find(name); found != models_.end()) found->second.load_time = load_time;
}

void Statistics::CountSuccess(const std::string& name, std::int64_t batch_size, const Phases& phases,
                              const Answered& answered) {
  const std::int64_t arrived_ms = MillisecondsSinceEpoch(
      std::chrono::system_clock::now() - std::chrono::duration_cast<std::chrono::system_clock::duration>(phases.total));
  const core::MutexLock lock(&mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) return;
  ModelCounts& counts = found->second;
  ModelCounts::Batch& batch = OfSize(batch_size, counts.by_batch_size);  // first, since it may find no memory
  batch.input.Add(phases.input);
  batch.compute.Add(phases.compute);
  batch.output.Add(phases.output);
  // A long request may end after a short one that arrived later.
  counts.last_inference_ms = std::max(counts.last_inference_ms, arrived_ms);
  counts.rows += static_cast<std::uint64_t>(batch_size);
  counts.success.Add(phases.total);
  counts.queue.Add(phases.queue);
  counts.input.Add(phases.input);
  counts.compute.Add(phases.compute);
  counts.output.Add(phases.output);
  counts.tokens += static_cast<std::uint64_t>(batch_size * std::max<std::int64_t>(answered.sequence_length, 0));
  counts.reply_bytes += answered.reply_bytes;
  ++counts.durations[CallCounts::BucketOf(phases.total)];
}

void Statistics::CountFailure(const std::string& name, absl::StatusCode code, std::chrono::nanoseconds elapsed) {
  const auto reason = static_cast<std::size_t>(ReasonOf(code));
  const core::MutexLock lock(&mutex_);
  const auto found = models_.find(name);
  if (found == models_.end()) {
    ++unknown_[reason];
  } else {
    found->second.fail.Add(elapsed);
    ++found->second.failures[reason];
  }
}

void Statistics::CountWaiting(const std::string& name, std::int64_t change) {
  const core::MutexLock lock(&mutex_);
  if (const auto found = models_.find(name); found != models_.end()) found->second.waiting += change;
}

std::vector<std::string> Statistics::Names() const {
  const core::MutexLock lock(&mutex_);
  std::vector<std::string> names;
  names.reserve(models_.size());
  for (const auto& [name, counts] : models_) names.push_back(name);
  return names;
}

std::array<std::uint64_t, kFailureReasons> Statistics::UnknownFailures() const {
  const core::MutexLock lock(&mutex_);
  return unknown_;
}

ModelCounts Statistics::Of(const std::string& name) const {
  const core::MutexLock lock(&mutex_);
  const auto found = models_.find(name);
  return found == models_.end() ? ModelCounts{} : found->second;
}

}  // namespace embd::service
