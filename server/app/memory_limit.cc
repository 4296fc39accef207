#include "server/app/memory_limit.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace embd::app {
namespace {

// The limit that a control group's file tells, or `otherwise`: "max" is no number.
std::int64_t Limit(const std::string& file, std::int64_t otherwise) {
  std::ifstream stream(file);
  std::string text;
  std::int64_t bytes = 0;
  return stream >> text && absl::SimpleAtoi(text, &bytes) && bytes > 0 ? bytes : otherwise;
}

// The smallest limit of a group and of all above it, which bind it too. In a container the group's own folder is
// mounted at the top, whatever its path says; then only the top is found.
std::int64_t SmallestLimit(const std::string& hierarchy, std::string group, const std::string& file,
                           std::int64_t limit) {
  for (;; group.erase(group.rfind('/'))) {
    limit = std::min(limit, Limit(absl::StrCat(hierarchy, group, "/", file), limit));
    if (group.find('/') == std::string::npos) return limit;
  }
}

}  // namespace

std::int64_t MemoryLimit(const std::string& root) {
  std::int64_t limit = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  const std::string v2 = root + "/sys/fs/cgroup";
  const std::string v1 = root + "/sys/fs/cgroup/memory";
  // Where /proc does not tell the group, the top ones count.
  limit = SmallestLimit(v2, "", "memory.max", SmallestLimit(v1, "", "memory.limit_in_bytes", limit));
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));  // id, controllers, path
    if (parts.size() != 3 || !absl::StartsWith(parts[2], "/")) continue;
    const std::vector<std::string> controllers = absl::StrSplit(parts[1], ',');
    if (parts[0] == "0" && parts[1].empty()) {
      limit = SmallestLimit(v2, parts[2], "memory.max", limit);
    } else if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end()) {
      limit = SmallestLimit(v1, parts[2], "memory.limit_in_bytes", limit);
    }
  }
  return limit;
}

std::int64_t TableMemoryLimit(std::int64_t limit) {
  constexpr std::int64_t kMostBesides = std::int64_t{128} << 20;
  return limit - std::min(limit / 8, kMostBesides);
}

}  // namespace embd::app
