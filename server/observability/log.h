#ifndef EMBD_SERVER_OBSERVABILITY_LOG_H_
#define EMBD_SERVER_OBSERVABILITY_LOG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

// The server's log: lines on standard error. Thread-safe. Never given tensor data.
namespace embd::observability {

/// Sets what is written: "trace", "debug", "info", "warn", "error" or "off". Until then: "info".
///
/// Errors:
///   INVALID_ARGUMENT  no such level; lists those there are.
[[nodiscard]] absl::Status SetLogLevel(const std::string& level);

void LogInfo(absl::string_view message);
void LogWarning(absl::string_view message);
void LogError(absl::string_view message);

/// Whether LogRequest writes anything; asked first, so that a request costs nothing for a line that nobody sees.
[[nodiscard]] bool LogsRequests();

/// What the one debug line a request says. Values that do not apply stay at their defaults and are left out.
struct RequestLine {
  absl::string_view rpc;
  absl::string_view peer;
  absl::string_view model;
  std::int64_t batch_size = -1;
  std::int64_t sequence_length = -1;
  std::int64_t request_bytes = 0;
  std::int64_t reply_bytes = 0;
  std::int64_t microseconds = 0;
  absl::Status status;
};
void LogRequest(const RequestLine& line);

/// Logs a broken promise of ours and returns a reference to that line, which is all that a caller is told.
[[nodiscard]] std::string LogInternalError(const absl::Status& status);

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_LOG_H_
