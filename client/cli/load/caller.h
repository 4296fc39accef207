#ifndef EMBD_CLIENT_CLI_LOAD_CALLER_H_
#define EMBD_CLIENT_CLI_LOAD_CALLER_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "absl/time/time.h"
#include "client/cli/load/batches.h"
#include "client/cli/load/clock.h"
#include "client/cli/load/one_call.h"
#include "client/cli/load/pace.h"
#include "client/cli/load/tally.h"
#include "embd/client/client.h"

namespace embd::cli {

/// What the callers of one load share. Outlives them.
struct SharedLoad {
  const std::vector<Batch>& batches;
  const Clock& clock;
  Pace& pace;
  std::stop_token stop;                           ///< cancels what is under way
  std::optional<absl::Duration> timeout;          ///< of a call; for streams it means nothing
  client::Chunks chunks = client::Chunks::kAuto;  ///< of the calls of MakeBlockingCaller
  std::atomic<std::int64_t> ended = 0;            ///< measured calls that have ended, for a look from outside

  [[nodiscard]] const Batch& BatchOf(const Turn& turn) const {
    return batches[static_cast<std::size_t>(turn.number) % batches.size()];
  }
};

/// One of the callers of a load: takes turns and calls until there are none. A caller that finds no server there waits
/// a little before its next turn.
///
/// Thread safety: Run is called by one thread, once.
class Caller {
 public:
  virtual ~Caller() = default;

  /// Returns when all calls have ended. What became of them is added to `tally`.
  virtual void Run(SharedLoad& load, Tally& tally) = 0;
};

/// Has one call outstanding at a time.
[[nodiscard]] std::unique_ptr<Caller> MakeBlockingCaller(std::unique_ptr<OneCall> call);

/// Has up to `window` requests outstanding in one stream: sends in the thread that runs it and receives in another. A
/// stream that breaks fails all of these, and a new one is opened.
[[nodiscard]] std::unique_ptr<Caller> MakeStreamCaller(client::Client client, std::int64_t window);

/// Keeps `window` requests outstanding in one stream, in one thread; for a closed loop, where no request waits to be
/// due. A stream that breaks fails all of these, and a new one is opened.
[[nodiscard]] std::unique_ptr<Caller> MakeFilledStreamCaller(client::Client client, std::int64_t window);

/// Has up to `window` calls of Client::EmbedAsync outstanding.
[[nodiscard]] std::unique_ptr<Caller> MakeAsyncCaller(client::Client client, std::int64_t window);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_CALLER_H_
