#ifndef EMBD_TESTS_BENCH_AS_EMBDCTL_H_
#define EMBD_TESTS_BENCH_AS_EMBDCTL_H_

#include <malloc.h>

#include "absl/synchronization/mutex.h"

namespace embd::bench {

/// Sets up this process as embdctl sets up its own, whose main says why: lock cycles are not looked for, and freed
/// memory is kept. To be called before anything else runs.
inline void SetUpAsEmbdctl() {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
  mallopt(M_TOP_PAD, 4 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
}

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_AS_EMBDCTL_H_
