#include "client/cli/commands/outcome.h"

#include "absl/strings/str_cat.h"
#include "embd/client/error.h"

namespace embd::cli {

Outcome Refused(const absl::Status& status) {
  const bool unreachable = absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
  const std::string reason = client::ErrorReason(status);
  return {.code = unreachable ? ExitCode::kUnreachable : ExitCode::kRefused,
          .message = absl::StrCat(absl::StatusCodeToString(status.code()), reason.empty() ? "" : " (", reason,
                                  reason.empty() ? "" : ")", ": ", status.message()),
          .timed_out = absl::IsDeadlineExceeded(status)};
}

Outcome WrongUsage(const absl::Status& status) {
  return {.code = ExitCode::kUsage, .message = std::string(status.message()), .timed_out = false};
}

}  // namespace embd::cli
