#ifndef EMBD_CLIENT_FAKE_REFUSAL_H_
#define EMBD_CLIENT_FAKE_REFUSAL_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "embd/client/error.h"

namespace embd::client::fake {

/// INVALID_ARGUMENT with a reason.
[[nodiscard]] inline absl::Status Invalid(absl::string_view reason, absl::string_view message) {
  return ErrorWithReason(absl::StatusCode::kInvalidArgument, reason, message);
}

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_REFUSAL_H_
