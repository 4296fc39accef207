#ifndef EMBD_SERVER_SERVICE_CALL_H_
#define EMBD_SERVER_SERVICE_CALL_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message_lite.h"
#include "grpcpp/grpcpp.h"

namespace embd::service {

/// What the calls have in common, unary or not: when they must stop, how they end, what is logged of them.
///
/// Thread safety: `OnCancelled` and `Interrupted` may run beside everything else.
class Call {
 public:
  Call(absl::string_view rpc, grpc::CallbackServerContext* context)
      : rpc_(rpc), context_(context), started_(std::chrono::steady_clock::now()) {}

  /// To be called from the reactor's OnCancel.
  void OnCancelled() { cancelled_.store(true, std::memory_order_relaxed); }

  /// When the call, or the request of the stream that is answered now, arrived.
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return started_; }

  /// OK while the caller waits for the result; else CANCELLED or DEADLINE_EXCEEDED. Cheap: asked between row blocks.
  [[nodiscard]] absl::Status Interrupted() const;

  /// Whether the caller is on this machine for certain: it came through a Unix socket. (A channel in this process does
  /// not say where it comes from.)
  [[nodiscard]] bool IsLocal() const;

  /// The status as it goes to the wire: details attached, retry pushback where the request would never fit, and in
  /// place of an INTERNAL error a reference to the log line.
  [[nodiscard]] grpc::Status Seal(const absl::Status& status);

  /// Writes the debug line of one request of the call.
  void Log(absl::string_view model, std::int64_t batch_size, std::int64_t sequence_length, std::int64_t request_bytes,
           std::int64_t reply_bytes, const absl::Status& status) const;

  /// Starts the clock anew, for the next request of a stream.
  void Restart() { started_ = std::chrono::steady_clock::now(); }

 private:
  const absl::string_view rpc_;
  grpc::CallbackServerContext* const context_;
  std::chrono::steady_clock::time_point started_;
  std::atomic<bool> cancelled_ = false;
};

/// Refuses an INTERNAL or UNKNOWN status's text: the log has it, the caller gets a reference. Other statuses pass.
[[nodiscard]] absl::Status HideInternal(const absl::Status& status);

/// Whether a request of so many bytes should not even be decoded on gRPC's own threads.
[[nodiscard]] bool IsLarge(const grpc::ByteBuffer& request);

/// Reads a message over the slices of `bytes`, without copying them.
///
/// Errors:
///   RESOURCE_EXHAUSTED  [REQUEST_TOO_LARGE] more than `max_bytes`.
///   INVALID_ARGUMENT    [MALFORMED_REQUEST] the bytes are no such message, or a string in it is not UTF-8.
[[nodiscard]] absl::Status Decode(const grpc::ByteBuffer& bytes, std::int64_t max_bytes,
                                  google::protobuf::MessageLite* message);

/// Encodes a message into one slice; an empty message gives one empty slice, since gRPC aborts on a reply that has
/// none.
[[nodiscard]] grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_CALL_H_
