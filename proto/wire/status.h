#ifndef EMBD_PROTO_WIRE_STATUS_H_
#define EMBD_PROTO_WIRE_STATUS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "embd/v1/embedding.pb.h"
#include "grpcpp/support/status.h"

// The one place that maps statuses to the wire and back. Inside a process a status is an absl::Status with up to two
// payloads: its reason ("ID_OUT_OF_RANGE") and, for OVERLOADED, when to try again.
namespace embd::wire {

/// Payload names; values are plain text. The first is the one that `core::Error` sets.
inline constexpr char kReasonPayload[] = "embd.v1/reason";
inline constexpr char kRetryAfterPayload[] = "embd.v1/retry_after_ms";

/// The domain of the google.rpc.ErrorInfo that goes along.
inline constexpr char kErrorDomain[] = "embd.v1";

/// Longest message on the wire, in bytes; longer ones are cut, with "…" at the end.
inline constexpr std::size_t kMaxMessageBytes = 1024;

/// The reason of a status, or "".
[[nodiscard]] std::string Reason(const absl::Status& status);

/// When to try again, in milliseconds; only OVERLOADED says it.
[[nodiscard]] std::optional<std::int64_t> RetryAfterMs(const absl::Status& status);
void SetRetryAfterMs(absl::Status* status, std::int64_t retry_after_ms);

/// Whether the same request would be refused for ever: such replies carry the trailer grpc-retry-pushback-ms: -1.
[[nodiscard]] bool NeverFits(const absl::Status& status);

/// As gRPC sends it: code, message, and in the details a google.rpc.Status with ErrorInfo and, if it is there,
/// RetryInfo.
[[nodiscard]] grpc::Status ToGrpcStatus(const absl::Status& status);

/// As the client library hands it out; the inverse of `ToGrpcStatus`. Details that are no google.rpc.Status are
/// ignored.
[[nodiscard]] absl::Status FromGrpcStatus(const grpc::Status& status);

/// The same for one item of a stream.
[[nodiscard]] v1::RequestStatus ToRequestStatus(const absl::Status& status);
[[nodiscard]] absl::Status FromRequestStatus(const v1::RequestStatus& status);

}  // namespace embd::wire

#endif  // EMBD_PROTO_WIRE_STATUS_H_
