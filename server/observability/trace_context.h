#ifndef EMBD_SERVER_OBSERVABILITY_TRACE_CONTEXT_H_
#define EMBD_SERVER_OBSERVABILITY_TRACE_CONTEXT_H_

#include <optional>

#include "absl/strings/string_view.h"

namespace embd::observability {

/// Which trace a call belongs to, and which of its spans made the call: W3C Trace Context, level 1.
struct TraceContext {
  absl::string_view trace_id;  ///< 32 hexadecimal digits
  absl::string_view span_id;   ///< 16 hexadecimal digits, of the caller's span
  bool sampled = false;        ///< whether the caller may have recorded it
};

/// Reads a `traceparent` header; the result points into it. Nothing where it is malformed: digits that are upper-case
/// or missing, ids of zeros, version ff, or more than version 00 has. Of a later version the part that 00 has is read.
[[nodiscard]] std::optional<TraceContext> ParseTraceparent(absl::string_view header);

/// Whether a caller's `x-request-id` can be used: 1 to 128 visible ASCII characters.
[[nodiscard]] bool IsRequestId(absl::string_view text);

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_TRACE_CONTEXT_H_
