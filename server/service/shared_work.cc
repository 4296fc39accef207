#include "server/service/shared_work.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

#include "absl/base/thread_annotations.h"
#include "server/core/threads/mutex.h"

namespace embd::service {
namespace {

// What is left of the work. Threads of the pool hold it for as long as they like; they find it closed when they come
// too late, and do not touch `piece` then.
class Pieces {
 public:
  Pieces(std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) : count_(count), piece_(piece) {}

  // Does one piece. False where none is left.
  bool DoNext() {
    const std::optional<std::int64_t> index = Begin();
    if (!index.has_value()) return false;
    bool had_memory = true;
    try {
      piece_(*index);
    } catch (const std::bad_alloc&) {  // told to the one thread that can answer for it
      had_memory = false;
    }
    End(had_memory);
    return true;
  }

  // Lets nobody begin another piece, and waits for those that are under way. Whether all had memory.
  bool Close() {
    const core::MutexLock lock(&mutex_);
    next_ = count_;
    while (running_ > 0) ended_.Wait(&mutex_);
    return had_memory_;
  }

 private:
  std::optional<std::int64_t> Begin() {
    const core::MutexLock lock(&mutex_);
    if (next_ == count_) return std::nullopt;
    ++running_;
    return next_++;
  }

  void End(bool had_memory) {
    const core::MutexLock lock(&mutex_);
    if (!had_memory) {
      had_memory_ = false;
      next_ = count_;
    }
    if (--running_ == 0) ended_.NotifyAll();
  }

  const std::int64_t count_;
  const absl::FunctionRef<void(std::int64_t)> piece_;
  core::Mutex mutex_;
  core::Condition ended_;
  std::int64_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  int running_ ABSL_GUARDED_BY(mutex_) = 0;
  bool had_memory_ ABSL_GUARDED_BY(mutex_) = true;
};

// Nobody may touch `piece` after ShareWork, also where an exception ends it.
class Closing {
 public:
  explicit Closing(Pieces& pieces) : pieces_(pieces) {}
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
  ~Closing() { pieces_.Close(); }

 private:
  Pieces& pieces_;
};

}  // namespace

absl::Status ShareWork(WorkerPool& pool, std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece,
                       absl::FunctionRef<absl::Status()> interrupted) {
  const auto pieces = std::make_shared<Pieces>(count, piece);
  const Closing closing(*pieces);
  const std::int64_t others = std::min<std::int64_t>(count, pool.threads()) - 1;
  for (std::int64_t i = 0; i < others; ++i) {
    pool.Add([pieces] {
      while (pieces->DoNext()) {
      }
    });
  }
  absl::Status status;
  while (status.ok() && pieces->DoNext()) status = interrupted();
  if (!pieces->Close()) throw std::bad_alloc();
  return status;
}

}  // namespace embd::service
