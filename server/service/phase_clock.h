#ifndef EMBD_SERVER_SERVICE_PHASE_CLOCK_H_
#define EMBD_SERVER_SERVICE_PHASE_CLOCK_H_

#include <chrono>

#include "server/service/statistics.h"

namespace embd::service {

/// Measures where the time of one request goes: it is told when each phase ends, and what has passed since the end of
/// the phase before counts for it. A phase may end several times.
///
/// Thread safety: not thread-safe; may go from thread to thread with its request.
class PhaseClock {
 public:
  /// The request has just arrived.
  PhaseClock() : arrived_(Clock::now()), last_(arrived_) {}

  void EndQueue() { phases_.queue += SinceLast(); }
  void EndInput() { phases_.input += SinceLast(); }
  void EndCompute() { phases_.compute += SinceLast(); }
  void EndOutput() { phases_.output += SinceLast(); }

  /// What passes until the next call belongs to no phase.
  void Skip() { SinceLast(); }

  /// All of it; what has passed since the last end is output.
  [[nodiscard]] Phases End() {
    EndOutput();
    phases_.total = last_ - arrived_;
    return phases_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  Clock::duration SinceLast() {
    const Clock::time_point now = Clock::now();
    const Clock::duration elapsed = now - last_;
    last_ = now;
    return elapsed;
  }

  Clock::time_point arrived_;
  Clock::time_point last_;
  Phases phases_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_PHASE_CLOCK_H_
