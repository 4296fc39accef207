#ifndef EMBD_CLIENT_CLI_LOAD_START_THREAD_H_
#define EMBD_CLIENT_CLI_LOAD_START_THREAD_H_

#include <functional>
#include <thread>

#include "absl/status/statusor.h"

namespace embd::cli {

/// A thread that runs `work`.
///
/// Errors:
///   RESOURCE_EXHAUSTED  the system gives no more threads.
[[nodiscard]] absl::StatusOr<std::thread> StartThread(std::function<void()> work);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_LOAD_START_THREAD_H_
