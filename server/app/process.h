#ifndef EMBD_SERVER_APP_PROCESS_H_
#define EMBD_SERVER_APP_PROCESS_H_

#include <string>

#include "absl/status/status.h"
#include "server/config/server_config.h"

namespace embd::app {

/// Sets what is logged and how, now or later. Thread-safe.
///
/// Errors: INVALID_ARGUMENT for a level that there is not; nothing has changed then.
[[nodiscard]] absl::Status ApplyLog(const config::Log& log);

/// Sets what holds for the process as a whole, before anything else runs: the log, the best SIMD target that
/// kernels may use ("" for what the CPU has), and that protobuf and gRPC keep to themselves what callers are told
/// anyway, e.g. of undecodable requests. The variable GRPC_VERBOSITY makes gRPC talk.
///
/// Errors:
///   INVALID_ARGUMENT  no such level or target; the message says which there are.
[[nodiscard]] absl::Status SetUpProcess(const config::Log& log, const std::string& simd_target);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_PROCESS_H_
