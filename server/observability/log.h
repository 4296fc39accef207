#ifndef EMBD_SERVER_OBSERVABILITY_LOG_H_
#define EMBD_SERVER_OBSERVABILITY_LOG_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/observability/log_line.h"

// The server's log: lines on standard error. Thread-safe, its settings too, which may change at any time. Never given
// tensor data, tokens or the metadata they come in.
namespace embd::observability {

/// Sets what is written: "trace", "debug", "info", "warn", "error" or "off". Until then: "info".
///
/// Errors:
///   INVALID_ARGUMENT  no such level; lists those there are.
[[nodiscard]] absl::Status SetLogLevel(const std::string& level);

/// Sets what lines look like. Until then: text.
void SetLogFormat(LogFormat format);

/// Sets the share of requests, 0 to 1, that get their line at "info" already. Until then: 0.
void SetAccessSample(double share);

void LogInfo(absl::string_view message);
void LogWarning(absl::string_view message);
void LogError(absl::string_view message);

/// Whether LogRequest may write anything; asked first, so that a request costs nothing for a line that nobody sees.
[[nodiscard]] bool LogsRequests();

/// What a call brings along to be found by.
struct CallNames {
  std::string request_id;  ///< the caller's, or one of ours
  std::string trace_id;    ///< of W3C Trace Context; empty: none
  std::string span_id;     ///< that of the caller
};

/// A request id that no other call of any server is likely to have: 16 hexadecimal digits.
[[nodiscard]] std::string NewRequestId();

/// What the one line a request says. Values that do not apply stay at their defaults and are left out.
struct RequestLine {
  CallNames names;
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

/// Writes the line: at "debug" always, else at "info" for the sampled share. Whether a request is sampled follows from
/// its trace id, or without one from its request id, so that servers with one share agree on a trace.
void LogRequest(const RequestLine& line);

/// Logs a broken promise of ours, whatever is sampled. The caller is told the request id, and nothing else.
void LogInternalError(const CallNames& names, absl::string_view rpc, const absl::Status& status);

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_LOG_H_
