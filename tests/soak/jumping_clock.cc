// A library to be preloaded: the wall clock of a process jumps. It shows the system's time and the seconds, an int64,
// that stand in the file which $EMBD_TEST_CLOCK_OFFSET names; who writes them there makes the clock jump. What counts
// from the start (CLOCK_MONOTONIC) is left alone, as it is when a machine's clock is set.

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

using Offset = std::atomic<std::int64_t>;

// Mapped by the first reading of a clock; without a file the clock does not jump.
const Offset* Map() {
  const char* const path = std::getenv("EMBD_TEST_CLOCK_OFFSET");
  const int file = path == nullptr ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const mapped = mmap(nullptr, sizeof(Offset), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<const Offset*>(mapped);
}

std::int64_t Jump() {
  static const Offset* const offset = Map();
  return offset == nullptr ? 0 : offset->load(std::memory_order_relaxed);
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const auto status = static_cast<int>(syscall(SYS_clock_gettime, clock, time));
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += Jump();
  return status;
}

int gettimeofday(timeval* __restrict time, void* __restrict /*zone*/) noexcept {
  timespec now = {};
  const int status = clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1000};
  return status;
}

time_t time(time_t* out) noexcept {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}
}
