#ifndef EMBD_SERVER_APP_PROCESS_H_
#define EMBD_SERVER_APP_PROCESS_H_

#include <string>

#include "absl/status/status.h"

namespace embd::app {

/// Sets what holds for the process as a whole, before anything else runs: the log's level, the best SIMD target that
/// kernels may use ("" for what the CPU has), and that protobuf and gRPC keep to themselves what callers are told
/// anyway, e.g. of undecodable requests. The variable GRPC_VERBOSITY makes gRPC talk.
///
/// Errors:
///   INVALID_ARGUMENT  no such level or target; the message says which there are.
[[nodiscard]] absl::Status SetUpProcess(const std::string& log_level, const std::string& simd_target);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_PROCESS_H_
