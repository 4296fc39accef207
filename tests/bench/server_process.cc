#include "tests/bench/server_process.h"

#include <sys/types.h>
#include <time.h>

#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace embd::bench {

double ProcessCpuSeconds(std::int64_t pid) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(static_cast<pid_t>(pid), &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void ResetPeakMemory(std::int64_t pid) { std::ofstream(absl::StrCat("/proc/", pid, "/clear_refs")) << "5"; }

ResidentMemory ProcessMemory(std::int64_t pid) {
  std::ifstream status(absl::StrCat("/proc/", pid, "/status"));
  ResidentMemory memory;
  std::string key;
  while (status >> key) {
    std::int64_t* const value = key == "VmRSS:" ? &memory.now : key == "VmHWM:" ? &memory.peak : nullptr;
    if (value != nullptr && status >> *value) *value *= 1024;
  }
  return memory;
}

}  // namespace embd::bench
