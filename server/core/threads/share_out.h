#ifndef EMBD_SERVER_CORE_THREADS_SHARE_OUT_H_
#define EMBD_SERVER_CORE_THREADS_SHARE_OUT_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace embd::core {

/// Calls `piece` once for each of 0 … count - 1, maybe on several threads at once, and returns when all calls have
/// returned. What it returns other than OK ends the work: some pieces were not begun then.
using ShareOut = absl::FunctionRef<absl::Status(std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece)>;

/// All on this thread.
inline absl::Status OneThread(std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
  for (std::int64_t i = 0; i < count; ++i) piece(i);
  return absl::OkStatus();
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_THREADS_SHARE_OUT_H_
