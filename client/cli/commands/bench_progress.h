#ifndef EMBD_CLIENT_CLI_COMMANDS_BENCH_PROGRESS_H_
#define EMBD_CLIENT_CLI_COMMANDS_BENCH_PROGRESS_H_

#include <cstdint>
#include <iosfwd>
#include <string>

#include "absl/time/time.h"
#include "client/cli/load/pace.h"

namespace embd::cli {

/// A line on a terminal that says how far a load has come and how fast it goes now.
///
/// Thread safety: thread-compatible.
class BenchProgress {
 public:
  /// Draws on `terminal` if that is not null; it outlives this object.
  BenchProgress(std::ostream* terminal, const PaceSettings& pace) : terminal_(terminal), pace_(pace) {}

  /// Draws the line anew; see LoadWatch::look.
  void Look(absl::Duration measured, std::int64_t ended);

  /// Wipes the line out.
  void Clear();

 private:
  [[nodiscard]] std::string Line(absl::Duration measured, std::int64_t ended) const;
  [[nodiscard]] double PartDone(absl::Duration measured, std::int64_t ended) const;

  std::ostream* const terminal_;
  const PaceSettings pace_;
  absl::Duration speed_from_ = absl::ZeroDuration();  // the moment and the calls that the speed counts from
  std::int64_t speed_from_calls_ = 0;
  double calls_per_s_ = 0;
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_BENCH_PROGRESS_H_
