#include "client/cli/load/window.h"

namespace embd::cli {

void Window::Enter() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_ < size_; });
  ++under_way_;
}

void Window::Leave() {
  // Notified under the lock: who waits for the last one may destroy the window at once.
  const std::lock_guard lock(mutex_);
  --under_way_;
  changed_.notify_one();
}

void Window::WaitUntilEmpty() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_ == 0; });
}

}  // namespace embd::cli
