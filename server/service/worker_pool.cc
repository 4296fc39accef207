#include "server/service/worker_pool.h"

#include <utility>

namespace embd::service {

WorkerPool::WorkerPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const core::MutexLock lock(&mutex_);
    stopping_ = true;
  }
  changed_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Add(std::function<void()> work) {
  {
    const core::MutexLock lock(&mutex_);
    queue_.push_back(std::move(work));
  }
  changed_.NotifyOne();
}

void WorkerPool::Run() {
  while (const std::function<void()> work = Next()) work();
}

std::function<void()> WorkerPool::Next() {
  const core::MutexLock lock(&mutex_);
  while (queue_.empty() && !stopping_) changed_.Wait(&mutex_);
  if (queue_.empty()) return nullptr;
  std::function<void()> work = std::move(queue_.front());
  queue_.pop_front();
  return work;
}

}  // namespace embd::service
