#include "server/app/machine_figures.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace embd::app {
namespace {

// The fields of /proc/self/stat behind the name of the program, which may hold anything: the first is the state, 3 in
// the numbering of proc(5).
std::optional<std::array<std::int64_t, 22>> ReadStat() {
  std::ifstream stream("/proc/self/stat");
  std::string text;
  if (!std::getline(stream, text)) return std::nullopt;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream rest(text.substr(name_end + 1));
  std::string state;
  std::array<std::int64_t, 22> fields{};
  rest >> state;
  for (std::size_t i = 1; i < fields.size(); ++i) rest >> fields[i];
  if (!rest) return std::nullopt;
  return fields;
}

// When the machine was started, in seconds since 1970; 0 where nobody says.
std::int64_t BootTime() {
  std::ifstream stream("/proc/stat");
  std::string line;
  while (std::getline(stream, line)) {
    if (line.rfind("btime ", 0) == 0) return std::strtoll(line.c_str() + 6, nullptr, 10);
  }
  return 0;
}

std::int64_t CountOpenFiles() {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), &closedir);
  if (folder == nullptr) return 0;
  std::int64_t count = 0;
  while (readdir(folder.get()) != nullptr) ++count;
  return count - 3;  // ".", ".." and the folder itself
}

}  // namespace

std::optional<ProcessFigures> ReadProcessFigures() {
  const auto stat = ReadStat();
  if (!stat.has_value()) return std::nullopt;
  const auto field = [&](std::size_t number) { return (*stat)[number - 3]; };  // as proc(5) numbers them
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  ProcessFigures figures;
  figures.cpu_seconds = static_cast<double>(field(14) + field(15)) / ticks;
  figures.start_time_seconds = static_cast<double>(BootTime()) + static_cast<double>(field(22)) / ticks;
  figures.virtual_bytes = field(23);
  figures.resident_bytes = field(24) * sysconf(_SC_PAGESIZE);
  figures.open_fds = CountOpenFiles();
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) figures.max_fds = static_cast<std::int64_t>(limit.rlim_cur);
  return figures;
}

std::optional<MachineFigures> ReadMachineFigures() {
  MachineFigures figures;
  std::ifstream memory("/proc/meminfo");
  std::int64_t available = -1;
  std::string key;
  std::string unit;
  std::int64_t kilobytes = 0;
  while (memory >> key >> kilobytes && std::getline(memory, unit)) {
    if (key == "MemTotal:") figures.memory_bytes = kilobytes * 1024;
    if (key == "MemAvailable:") available = kilobytes * 1024;
  }
  std::ifstream stat("/proc/stat");
  std::array<std::int64_t, 8> ticks{};  // user, nice, system, idle, iowait, irq, softirq, steal
  stat >> key;
  for (std::int64_t& each : ticks) stat >> each;
  if (!stat || figures.memory_bytes == 0 || available < 0) return std::nullopt;
  figures.used_memory_bytes = figures.memory_bytes - available;
  for (const std::int64_t each : ticks) figures.total_ticks += each;
  figures.busy_ticks = figures.total_ticks - ticks[3] - ticks[4];
  return figures;
}

}  // namespace embd::app
