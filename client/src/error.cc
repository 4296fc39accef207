#include "embd/client/error.h"

#include "absl/strings/cord.h"
#include "proto/wire/status.h"

namespace embd::client {

std::string ErrorReason(const absl::Status& status) { return wire::Reason(status); }

std::optional<absl::Duration> RetryAfter(const absl::Status& status) {
  const auto retry_after_ms = wire::RetryAfterMs(status);
  return retry_after_ms.has_value() ? std::optional(absl::Milliseconds(*retry_after_ms)) : std::nullopt;
}

absl::Status ErrorWithReason(absl::StatusCode code, absl::string_view reason, absl::string_view message) {
  absl::Status status(code, message);
  if (!reason.empty()) status.SetPayload(wire::kReasonPayload, absl::Cord(reason));
  return status;
}

}  // namespace embd::client
