#ifndef EMBD_CLIENT_CLI_LOAD_TALLY_H_
#define EMBD_CLIENT_CLI_LOAD_TALLY_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/cli/load/batches.h"
#include "client/cli/load/latency_histogram.h"
#include "client/cli/load/pace.h"

namespace embd::cli {

/// Calls that failed with one code.
struct ErrorCount {
  std::int64_t count = 0;
  std::string first_message;  ///< with the reason, as "REASON: message"
  absl::Duration first_at;
};

/// What became of the measured calls of a load. Only calls that succeeded count as throughput and have a latency.
///
/// Thread safety: thread-compatible. One a thread, merged at the end.
class Tally {
 public:
  /// A start is late from here on; sooner is what waking up takes.
  static constexpr absl::Duration kLate = absl::Milliseconds(1);

  /// A call starts.
  void Start(const Turn& turn);

  /// A call that asked for `batch` has ended. `abandoned` says that it was us who ended it.
  void End(const Turn& turn, absl::Duration now, const Batch& batch, const absl::Status& status, bool abandoned);

  void Merge(const Tally& other);

  [[nodiscard]] std::int64_t failed() const;

  std::int64_t calls = 0;  ///< that succeeded
  std::int64_t rows = 0;
  std::int64_t bytes = 0;  ///< of their tensors
  LatencyHistogram latency;
  std::map<absl::StatusCode, ErrorCount> errors;
  std::int64_t abandoned = 0;
  std::int64_t warmup_calls = 0;  ///< that ended, however
  std::int64_t late_starts = 0;
  absl::Duration most_late;
  absl::Duration last_end;  ///< by the clock of the load; of calls that succeeded or failed
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_TALLY_H_
