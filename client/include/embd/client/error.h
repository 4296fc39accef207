#ifndef EMBD_CLIENT_ERROR_H_
#define EMBD_CLIENT_ERROR_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

// What a status of this library says besides its code and message.
namespace embd::client {

/// Why the server refused, in upper snake case, e.g. "ID_OUT_OF_RANGE"; "" where no reason came along.
[[nodiscard]] std::string ErrorReason(const absl::Status& status);

/// When to try again; only a server that has too much in flight says it.
[[nodiscard]] std::optional<absl::Duration> RetryAfter(const absl::Status& status);

/// Returns a status as a server would send it, for fakes: `reason` may be empty.
[[nodiscard]] absl::Status ErrorWithReason(absl::StatusCode code, absl::string_view reason, absl::string_view message);

}  // namespace embd::client

#endif  // EMBD_CLIENT_ERROR_H_
