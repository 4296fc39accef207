#ifndef EMBD_SERVER_SERVICE_PHASE_CLOCK_H_
#define EMBD_SERVER_SERVICE_PHASE_CLOCK_H_

#include <chrono>

#include "server/service/statistics.h"

namespace embd::service {

/// Measures where the time of one request goes: it is told when each phase ends, and what has passed since the end of
/// the phase before counts for it. A phase may end several times. `Clock` is what time is read from, once a call.
///
/// Thread safety: not thread-safe; may go from thread to thread with its request.
template <typename Clock>
class BasicPhaseClock {
 public:
  /// The request has just arrived.
  BasicPhaseClock() : arrived_(Clock::now()), last_(arrived_) {}

  void EndQueue() { phases_.queue += SinceLast(); }
  void EndInput() { phases_.input += SinceLast(); }
  void EndCompute() { phases_.compute += SinceLast(); }
  void EndOutput() { phases_.output += SinceLast(); }

  /// What has passed since the end of the phase before belongs to no phase, only to the total.
  void Skip() { SinceLast(); }

  /// Ends the request: what has passed since the end of the phase before is output.
  [[nodiscard]] Phases End() {
    EndOutput();
    phases_.total = last_ - arrived_;
    return phases_;
  }

 private:
  typename Clock::duration SinceLast() {
    const typename Clock::time_point now = Clock::now();
    const typename Clock::duration elapsed = now - last_;
    last_ = now;
    return elapsed;
  }

  typename Clock::time_point arrived_;
  typename Clock::time_point last_;
  Phases phases_;
};

using PhaseClock = BasicPhaseClock<std::chrono::steady_clock>;

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_PHASE_CLOCK_H_
