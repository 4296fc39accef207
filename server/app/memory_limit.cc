#include "server/app/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "absl/strings/numbers.h"

namespace embd::app {

std::int64_t MemoryLimit(const std::string& root) {
  std::int64_t limit = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  // In a container the process's own group is mounted at the top. "max", or a number beyond any memory, means no limit.
  for (const char* const file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream stream(root + file);
    std::string text;
    std::int64_t bytes = 0;
    if (stream >> text && absl::SimpleAtoi(text, &bytes) && bytes > 0) limit = std::min(limit, bytes);
  }
  return limit;
}

}  // namespace embd::app
