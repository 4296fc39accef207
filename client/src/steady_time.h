#ifndef EMBD_CLIENT_SRC_STEADY_TIME_H_
#define EMBD_CLIENT_SRC_STEADY_TIME_H_

#include <chrono>

#include "absl/time/time.h"

namespace embd::client {

/// The time by a clock that nobody sets, from a moment that means nothing: for deadlines and pauses, and for comparison
/// with its own results only. Thread-safe.
[[nodiscard]] inline absl::Time SteadyNow() {
  return absl::UnixEpoch() + absl::FromChrono(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_STEADY_TIME_H_
