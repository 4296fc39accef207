#include "server/app/idle_memory.h"

#include <malloc.h>

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

namespace embd::app {
namespace {

void Run(const std::stop_token& stop, service::ReplyBuffers* buffers, std::chrono::milliseconds period) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  while (true) {
    {
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, period, [] { return false; });
    }
    if (stop.stop_requested()) return;
    // Buffers below 2 MiB lie in the heap, whose free pages the allocator keeps by itself.
    if (buffers->FreeUnused() > 0) malloc_trim(0);
  }
}

}  // namespace

IdleMemory::IdleMemory(std::shared_ptr<service::ReplyBuffers> buffers, std::chrono::milliseconds period)
    : thread_(
          [buffers = std::move(buffers), period](const std::stop_token& stop) { Run(stop, buffers.get(), period); }) {}

}  // namespace embd::app
