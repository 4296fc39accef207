#ifndef EMBD_TESTS_UNIT_FORMATS_PEAK_GROWTH_H_
#define EMBD_TESTS_UNIT_FORMATS_PEAK_GROWTH_H_

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {

inline std::int64_t PeakBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/// By how many bytes `load` raises the peak of resident memory, in a process of its own; -1 if it returns false.
inline std::int64_t PeakGrowth(const std::function<bool()>& load) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {  // begins with a peak of what it has now
    const std::int64_t before = PeakBytes();
    const std::int64_t growth = load() ? PeakBytes() - before : -1;
    const bool written = write(ends[1], &growth, sizeof growth) == sizeof growth;
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  std::int64_t growth = -1;
  if (read(ends[0], &growth, sizeof growth) != sizeof growth) growth = -1;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return growth;
}

/// Writes `head` and `more_bytes` zeros, which take no space on disk. Returns the path.
inline std::string WriteSparse(const ScratchFolder& folder, const std::string& name, const std::string& head,
                               std::uint64_t more_bytes) {
  const std::string path = folder.Write(name, head);
  std::filesystem::resize_file(path, head.size() + more_bytes);
  return path;
}

}  // namespace embd::formats

#endif  // EMBD_TESTS_UNIT_FORMATS_PEAK_GROWTH_H_
