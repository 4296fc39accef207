#ifndef EMBD_TESTS_BENCH_SERVER_PROCESS_H_
#define EMBD_TESTS_BENCH_SERVER_PROCESS_H_

#include <cstdint>

namespace embd::bench {

/// Seconds of CPU that all threads of a process have used so far; 0 where there is no such process.
[[nodiscard]] double ProcessCpuSeconds(std::int64_t pid);

/// Makes the process's peak of resident memory its present size. Needs to be its owner.
void ResetPeakMemory(std::int64_t pid);

/// Its present and its greatest resident memory since then, in bytes.
struct ResidentMemory {
  std::int64_t now = 0;
  std::int64_t peak = 0;
};
[[nodiscard]] ResidentMemory ProcessMemory(std::int64_t pid);

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_SERVER_PROCESS_H_
