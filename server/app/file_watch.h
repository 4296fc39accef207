#ifndef EMBD_SERVER_APP_FILE_WATCH_H_
#define EMBD_SERVER_APP_FILE_WATCH_H_

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "server/core/threads/mutex.h"

namespace embd::app {

/// Looks again and again whether files have changed, on a thread of its own: whether another file has the name, also
/// behind a link, or its size, times or permissions are others. What changes between two looks is taken up when a
/// third one finds it at rest, so that files that are replaced one after the other are seen together.
///
/// Thread safety: thread-safe, but for the constructor and destructor.
class FileWatch {
 public:
  /// `on_change` is called on the watching thread, and returns whether the change was taken up. One that was not is
  /// called for again and again, after ever longer times up to `longest_pause`: the files may be right, and only the
  /// moment wrong. What has changed since the constructor counts.
  FileWatch(std::vector<std::string> paths, absl::Duration period, std::function<bool()> on_change,
            absl::Duration longest_pause = absl::Minutes(1));
  FileWatch(const FileWatch&) = delete;
  FileWatch& operator=(const FileWatch&) = delete;
  /// Waits for an `on_change` that is under way.
  ~FileWatch();

 private:
  using Prints = std::vector<std::string>;

  [[nodiscard]] Prints Look() const;
  [[nodiscard]] bool WaitForPeriod();
  void Run();

  const std::vector<std::string> paths_;
  const absl::Duration period_;
  const std::function<bool()> on_change_;
  const absl::Duration longest_pause_;
  core::Mutex mutex_;
  core::Condition stop_asked_;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  Prints taken_;  // of the watching thread, as of the last on_change
  Prints seen_;   // of the watching thread, at the last look
  // Of the watching thread: how long to wait for the next try, and since when. Unset: the last change was taken up.
  std::optional<absl::Duration> pause_;
  std::chrono::steady_clock::time_point tried_;
  std::thread thread_;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_FILE_WATCH_H_
