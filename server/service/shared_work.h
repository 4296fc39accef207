#ifndef EMBD_SERVER_SERVICE_SHARED_WORK_H_
#define EMBD_SERVER_SERVICE_SHARED_WORK_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "server/service/worker_pool.h"

namespace embd::service {

/// Calls `piece` once for each of 0 … count - 1, on this thread and on those of `pool` that are free meanwhile, in no
/// particular order. Never waits for a thread of the pool to become free, so it may be called on one of them. Returns
/// when no call of `piece` is under way any more; throws std::bad_alloc then, too, where memory was lacking.
///
/// `interrupted` is asked on this thread after each of its pieces; what it says other than OK is returned, and no
/// further piece is begun. `piece` is called by several threads at once.
[[nodiscard]] absl::Status ShareWork(WorkerPool& pool, std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece,
                                     absl::FunctionRef<absl::Status()> interrupted);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_SHARED_WORK_H_
