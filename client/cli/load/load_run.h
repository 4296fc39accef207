#ifndef EMBD_CLIENT_CLI_LOAD_LOAD_RUN_H_
#define EMBD_CLIENT_CLI_LOAD_LOAD_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/load/caller.h"
#include "client/cli/load/pace.h"
#include "client/cli/load/tally.h"

namespace embd::cli {

/// A load: who calls what, how often, and how fast.
struct Load {
  std::vector<Batch> batches;  ///< taken in turns; not empty
  PaceSettings pace;
  std::optional<absl::Duration> timeout;
  client::Chunks chunks = client::Chunks::kAuto;  ///< see SharedLoad
  std::vector<std::unique_ptr<Caller>> callers;   ///< each gets a thread
};

/// What the thread that waits for a load does meanwhile, several times a second.
struct LoadWatch {
  std::function<bool()> interrupted;  ///< whether to end it now
  /// Looks on: how long it has been measured (negative in the warm-up), and how many measured calls have ended.
  std::function<void(absl::Duration measured, std::int64_t ended)> look;
};

/// What a load came to.
struct LoadResult {
  Tally tally;
  absl::Duration elapsed;  ///< from the begin of measuring to the end of the last call
  bool cut_short = false;  ///< by an interruption, which also abandons the calls that are under way
};

/// Runs a load to its end.
///
/// Errors: those of Pace::Start; RESOURCE_EXHAUSTED where there are not enough threads.
[[nodiscard]] absl::StatusOr<LoadResult> RunLoad(const Load& load, const Clock& clock, const LoadWatch& watch);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_LOAD_RUN_H_
