#include "server/app/idle_memory.h"

#include <malloc.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace embd::app {
namespace {

void Run(const std::stop_token& stop, service::ReplyBuffers* buffers, const TableBudget& budget,
         std::chrono::milliseconds period) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  while (true) {
    {
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, period, [] { return false; });
    }
    if (stop.stop_requested()) return;
    // Buffers and tables below 2 MiB and vocabularies lie in the heap, whose free pages the allocator keeps by itself.
    const bool buffers_freed = buffers->FreeUnused() > 0;
    if (budget.TakeEnded() || buffers_freed) malloc_trim(0);
  }
}

}  // namespace

IdleMemory::IdleMemory(std::shared_ptr<service::ReplyBuffers> buffers, TableBudget budget,
                       std::chrono::milliseconds period)
    : thread_([buffers = std::move(buffers), budget = std::move(budget), period](const std::stop_token& stop) {
        Run(stop, buffers.get(), budget, period);
      }) {}

}  // namespace embd::app
