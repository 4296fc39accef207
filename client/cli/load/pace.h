#ifndef EMBD_CLIENT_CLI_LOAD_PACE_H_
#define EMBD_CLIENT_CLI_LOAD_PACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/load/clock.h"

namespace embd::cli {

/// How much is called, and how fast.
struct PaceSettings {
  absl::Duration warmup = absl::ZeroDuration();        ///< called, but not measured
  absl::Duration duration = absl::InfiniteDuration();  ///< of the measured part
  std::optional<std::int64_t> calls = {};              ///< measured calls at most
  std::optional<double> rate = {};                     ///< calls a second; unset: a closed loop
};

/// Errors:
///   INVALID_ARGUMENT  neither duration nor calls end it; a rate that makes no call, or more than 2^53, of it.
[[nodiscard]] absl::Status CheckPace(const PaceSettings& settings);

/// One call that is to be made.
struct Turn {
  std::int64_t number = 0;  ///< from 0, warm-up included
  absl::Duration due;       ///< when it is to start; its latency counts from here
  absl::Duration late;      ///< how much later than that it was handed out
  bool measured = false;
};

/// Hands out turns to callers.
///
/// Closed loop, without a rate: a caller's next call is due when it asks for it.
/// Open loop: calls are due at even distances of 1 / rate, whatever became of the calls before it, and none is left
/// out. If callers come for it too late, the wait is part of its latency; so a server that stalls shows in all calls
/// that should have been made meanwhile.
///
/// Thread safety: thread-safe.
class Pace {
 public:
  /// Starts now. Errors: those of CheckPace.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Pace>> Start(const PaceSettings& settings, const Clock& clock,
                                                                   std::stop_token stop);

  /// Waits until the next call is due. Nothing when there are no more, or stop was requested.
  [[nodiscard]] std::optional<Turn> Next();

  /// When the measured part begins.
  [[nodiscard]] absl::Duration measured_from() const { return measured_from_; }

 private:
  Pace(const PaceSettings& settings, const Clock& clock, std::stop_token stop);

  [[nodiscard]] std::optional<Turn> NextOfClosedLoop();
  [[nodiscard]] std::optional<Turn> NextOfOpenLoop();

  const PaceSettings settings_;
  const Clock clock_;
  const std::stop_token stop_;
  const absl::Duration start_;
  const absl::Duration measured_from_;
  std::int64_t warmup_turns_ = 0;  // of an open loop
  std::int64_t all_turns_ = 0;     // of an open loop
  std::atomic<std::int64_t> next_ = 0;
  std::atomic<std::int64_t> next_measured_ = 0;
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_PACE_H_
