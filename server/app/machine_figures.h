#ifndef EMBD_SERVER_APP_MACHINE_FIGURES_H_
#define EMBD_SERVER_APP_MACHINE_FIGURES_H_

#include <cstdint>
#include <optional>

namespace embd::app {

/// What Linux tells of this process.
struct ProcessFigures {
  double cpu_seconds = 0;         ///< user and system
  double start_time_seconds = 0;  ///< since 1970
  std::int64_t resident_bytes = 0;
  std::int64_t virtual_bytes = 0;
  std::int64_t open_fds = 0;
  std::int64_t max_fds = 0;
};

/// Reads them from /proc; nothing where that cannot be read. Cost: a few system calls, and one for each hundred or so
/// of open files.
[[nodiscard]] std::optional<ProcessFigures> ReadProcessFigures();

/// What Linux tells of the machine.
struct MachineFigures {
  std::int64_t memory_bytes = 0;
  std::int64_t used_memory_bytes = 0;  ///< what could not be had by a new process
  std::int64_t busy_ticks = 0;         ///< of all CPUs since the start
  std::int64_t total_ticks = 0;
};

/// Reads them from /proc; nothing where that cannot be read.
[[nodiscard]] std::optional<MachineFigures> ReadMachineFigures();

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MACHINE_FIGURES_H_
