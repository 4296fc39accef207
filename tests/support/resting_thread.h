#ifndef EMBD_TESTS_SUPPORT_RESTING_THREAD_H_
#define EMBD_TESTS_SUPPORT_RESTING_THREAD_H_

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/eventually.h"

namespace embd::testing {

/// A thread that does one thing, which is expected to wait for something. The end joins it.
class RestingThread {
 public:
  explicit RestingThread(std::function<void()> work)
      : thread_([this, work = std::move(work)] {
          id_ = gettid();
          work();
          id_ = -1;
        }) {}
  RestingThread(const RestingThread&) = delete;
  RestingThread& operator=(const RestingThread&) = delete;
  ~RestingThread() { thread_.join(); }

  /// Waits, for at most 30 s, until the system has seen the thread asleep many times in a row; whether it is.
  [[nodiscard]] bool Rests() const {
    constexpr int kLooks = 200;  // a lock that is only passed through is not held for as long
    int asleep = 0;
    return Eventually([&] {
      asleep = IsAsleep() ? asleep + 1 : 0;
      return asleep == kLooks;
    });
  }

 private:
  [[nodiscard]] bool IsAsleep() const {
    const pid_t id = id_;
    if (id <= 0) return false;
    std::ifstream file("/proc/self/task/" + std::to_string(id) + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(") ");
    return name_end != std::string::npos && line.compare(name_end, 3, ") S") == 0;
  }

  std::atomic<pid_t> id_ = 0;
  std::thread thread_;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_SUPPORT_RESTING_THREAD_H_
