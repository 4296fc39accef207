#ifndef EMBD_SERVER_CORE_ERROR_H_
#define EMBD_SERVER_CORE_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace embd::core {

/// The payload of an absl::Status under which its machine-readable reason travels. The wire layer reads the same name.
inline constexpr char kReasonPayload[] = "embd.v1/reason";

/// Returns a status with `reason` (upper snake case, e.g. "ID_OUT_OF_RANGE") attached.
///
/// Messages say what was wrong, where, and what is allowed; lower case, no trailing dot. Strings that a caller sent go
/// through `Quote`.
[[nodiscard]] absl::Status Error(absl::StatusCode code, absl::string_view reason, absl::string_view message);

/// INVALID_ARGUMENT with a reason.
[[nodiscard]] absl::Status InvalidArgument(absl::string_view reason, absl::string_view message);

/// The reason attached by `Error`, or "" where there is none.
[[nodiscard]] std::string ErrorReason(const absl::Status& status);

/// `text` as valid UTF-8: each byte that is no part of a character becomes "\\xHH". Paths may hold any byte, messages
/// of the API may not.
[[nodiscard]] std::string ValidUtf8(absl::string_view text);

/// `text` in double quotes for use in a message: escaped, and cut with "…" after 128 bytes.
[[nodiscard]] std::string Quote(absl::string_view text);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ERROR_H_
