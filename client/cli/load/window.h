#ifndef EMBD_CLIENT_CLI_LOAD_WINDOW_H_
#define EMBD_CLIENT_CLI_LOAD_WINDOW_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace embd::cli {

/// Bounds how many calls are under way.
///
/// Thread safety: thread-safe.
class Window {
 public:
  /// `size` is at least 1.
  explicit Window(std::int64_t size) : size_(size) {}

  /// Waits until fewer than `size` calls are under way, and counts one more.
  void Enter();

  /// One has ended.
  void Leave();

  /// Waits until none is under way.
  void WaitUntilEmpty();

 private:
  const std::int64_t size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t under_way_ = 0;
};

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_WINDOW_H_
