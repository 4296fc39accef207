#ifndef EMBD_SERVER_SERVICE_WORKER_POOL_H_
#define EMBD_SERVER_SERVICE_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace embd::service {

/// Threads for requests that take long. gRPC has as few as two threads for all its callbacks; work there would stall health
/// checks, deadlines and cancellation.
///
/// Thread safety: thread-safe. The destructor runs what has been added, then joins the threads.
class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// Runs `work` on one of the threads, in the order of the calls.
  void Add(std::function<void()> work);

 private:
  void Run();
  [[nodiscard]] bool HasWorkOrStops() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return stopping_ || !queue_.empty(); }

  absl::Mutex mutex_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_WORKER_POOL_H_
