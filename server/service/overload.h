#ifndef EMBD_SERVER_SERVICE_OVERLOAD_H_
#define EMBD_SERVER_SERVICE_OVERLOAD_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

// The refusal that is for now only.
namespace embd::service {

/// RESOURCE_EXHAUSTED [OVERLOADED] with a retry delay, which is also said at the end of the message.
[[nodiscard]] absl::Status Overloaded(absl::string_view message);

/// Runs `work` and returns its status, or Overloaded where a container or message in it finds no memory left. One
/// request that does not fit must not end the server.
[[nodiscard]] absl::Status WithinMemory(absl::FunctionRef<absl::Status()> work);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_OVERLOAD_H_
