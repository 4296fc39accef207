#include "server/service/worker_pool.h"

#include <utility>

namespace embd::service {

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const absl::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Add(std::function<void()> work) {
  const absl::MutexLock lock(&mutex_);
  queue_.push_back(std::move(work));
}

void WorkerPool::Run() {
  while (true) {
    std::function<void()> work;
    {
      const absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &WorkerPool::HasWorkOrStops));
      if (queue_.empty()) return;
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    work();
  }
}

}  // namespace embd::service
