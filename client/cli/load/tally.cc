#include "client/cli/load/tally.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "embd/client/error.h"

namespace embd::cli {

void Tally::Start(const Turn& turn) {
  if (!turn.measured) return;
  if (turn.late >= kLate) ++late_starts;
  most_late = std::max(most_late, turn.late);
}

void Tally::End(const Turn& turn, absl::Duration now, const Batch& batch, const absl::Status& status,
                bool was_abandoned) {
  if (!turn.measured) {
    ++warmup_calls;
    return;
  }
  if (was_abandoned) {
    ++abandoned;
    return;
  }
  last_end = std::max(last_end, now);
  if (status.ok()) {
    ++calls;
    rows += batch.rows;
    bytes += static_cast<std::int64_t>(batch.reply_bytes);
    latency.Record(now - turn.due);
    return;
  }
  ErrorCount& error = errors[status.code()];
  if (++error.count > 1) return;
  const std::string reason = client::ErrorReason(status);
  error.first_message = absl::StrCat(reason, reason.empty() ? "" : ": ", status.message());
  error.first_at = now;
}

void Tally::Merge(const Tally& other) {
  calls += other.calls;
  rows += other.rows;
  bytes += other.bytes;
  latency.Merge(other.latency);
  for (const auto& [code, error] : other.errors) {
    ErrorCount& mine = errors[code];
    if (mine.count == 0 || error.first_at < mine.first_at) {
      mine.first_message = error.first_message;
      mine.first_at = error.first_at;
    }
    mine.count += error.count;
  }
  abandoned += other.abandoned;
  warmup_calls += other.warmup_calls;
  late_starts += other.late_starts;
  most_late = std::max(most_late, other.most_late);
  last_end = std::max(last_end, other.last_end);
}

std::int64_t Tally::failed() const {
  std::int64_t sum = 0;
  for (const auto& [code, error] : errors) sum += error.count;
  return sum;
}

}  // namespace embd::cli
