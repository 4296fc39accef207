#ifndef EMBD_SERVER_APP_IDLE_MEMORY_H_
#define EMBD_SERVER_APP_IDLE_MEMORY_H_

#include <chrono>
#include <memory>
#include <thread>

#include "server/app/table_budget.h"
#include "server/service/reply_buffers.h"

namespace embd::app {

/// Gives memory back to the system that replies have not needed for a while, and what is left in the heap of models
/// that have gone, also when no call comes any more: a thread that looks once in `period`, so that a buffer is freed
/// one to two periods after its last use.
///
/// Thread safety: thread-compatible. Destruction ends the thread at once.
class IdleMemory {
 public:
  IdleMemory(std::shared_ptr<service::ReplyBuffers> buffers, TableBudget budget, std::chrono::milliseconds period);

 private:
  std::jthread thread_;
};

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_IDLE_MEMORY_H_
