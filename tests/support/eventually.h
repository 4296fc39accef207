#ifndef EMBD_TESTS_SUPPORT_EVENTUALLY_H_
#define EMBD_TESTS_SUPPORT_EVENTUALLY_H_

#include <thread>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace embd::testing {

/// Waits, for at most 30 s, until `condition` holds; whether it does.
template <typename Condition>
bool Eventually(Condition condition) {
  const absl::Time end = absl::Now() + absl::Seconds(30);
  while (!condition()) {
    if (absl::Now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_EVENTUALLY_H_
