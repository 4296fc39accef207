#ifndef EMBD_CLIENT_CLI_LOAD_CLOCK_H_
#define EMBD_CLIENT_CLI_LOAD_CLOCK_H_

#include <functional>

#include "absl/time/time.h"

namespace embd::cli {

/// The time a load is measured by. Both are thread-safe.
struct Clock {
  /// Since some fixed moment; never goes back.
  std::function<absl::Duration()> now;
  std::function<void(absl::Duration)> sleep;
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_CLOCK_H_
