#ifndef EMBD_SERVER_SERVICE_WORKER_POOL_H_
#define EMBD_SERVER_SERVICE_WORKER_POOL_H_

#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/core/threads/mutex.h"

namespace embd::service {

/// Threads for requests that take long. gRPC has as few as two threads for all its callbacks; work there would stall
/// health checks, deadlines and cancellation.
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

  /// How many threads there are.
  [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }

 private:
  void Run();
  /// The next piece of work; empty when the pool stops.
  [[nodiscard]] std::function<void()> Next();

  core::Mutex mutex_;
  core::Condition changed_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_WORKER_POOL_H_
