#ifndef EMBD_SERVER_SERVICE_CALL_H_
#define EMBD_SERVER_SERVICE_CALL_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "grpcpp/grpcpp.h"
#include "server/observability/log.h"
#include "server/service/gate.h"
#include "server/service/method.h"

namespace embd::service {

/// What the calls have in common, unary or not: how they come in, when they must stop, how they end, what is logged of
/// them.
///
/// Thread safety: `OnCancelled` and `Interrupted` may run beside everything else.
class Call {
 public:
  /// `gate` outlives the call.
  Call(Gate* gate, Method method, grpc::CallbackServerContext* context)
      : gate_(*gate), method_(method), context_(context), started_(std::chrono::steady_clock::now()), last_(started_) {}
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { LeaveItem(); }

  /// Passes the gate, once, before anything is done for the call, and takes room for a unary call's request. Errors:
  /// those of Gate::Enter and Gate::TakeRoom; the call is then to be ended with the status.
  [[nodiscard]] absl::Status Enter(std::int64_t request_bytes = 0);

  /// Takes room for the next request of a stream. Errors: those of Gate::TakeRoom; then this request is to be refused.
  [[nodiscard]] absl::Status EnterItem(std::int64_t request_bytes);

  /// Gives back what EnterItem took, if it did.
  void LeaveItem();

  /// Reads a message over the slices of `bytes`, without copying them, and counts the memory that it takes beyond
  /// them.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [REQUEST_TOO_LARGE] more than `max_bytes`, or decoded more than any request may take.
  ///   RESOURCE_EXHAUSTED  [OVERLOADED] those of Gate::AddBytes.
  ///   INVALID_ARGUMENT    [MALFORMED_REQUEST] the bytes are no such message, or a string in it is not UTF-8.
  [[nodiscard]] absl::Status Decode(const grpc::ByteBuffer& bytes, std::int64_t max_bytes,
                                    google::protobuf::Message* message);

  /// To be called from the reactor's OnCancel.
  void OnCancelled() { cancelled_.store(true, std::memory_order_relaxed); }

  /// When the call, or the request of the stream that is answered now, arrived.
  [[nodiscard]] std::chrono::steady_clock::time_point started() const { return last_; }

  /// OK while the caller waits for the result; else CANCELLED or DEADLINE_EXCEEDED. Cheap: asked between row blocks.
  [[nodiscard]] absl::Status Interrupted() const;

  /// Whether the caller is on this machine for certain: it came through a Unix socket. (A channel in this process does
  /// not say where it comes from.)
  [[nodiscard]] bool IsLocal() const;

  /// Whether the call may outlive max_stall, going by its deadline: its reply must be watched then.
  [[nodiscard]] bool MayStall() const;

  [[nodiscard]] Method method() const { return method_; }
  [[nodiscard]] grpc::CallbackServerContext* context() const { return context_; }
  [[nodiscard]] Gate& gate() const { return gate_; }

  /// Ends the call, once: it is counted and leaves the gate. Returns the status as it goes to the wire: details
  /// attached, retry pushback where the request would never fit, and in place of an INTERNAL error a reference to the
  /// log line.
  [[nodiscard]] grpc::Status End(const absl::Status& status);

  /// In place of an INTERNAL or UNKNOWN status one that names the line which the log gets of it. Others pass.
  [[nodiscard]] absl::Status Hide(const absl::Status& status) const;

  /// Writes the line of one request of the call, where the log wants it.
  void Log(absl::string_view model, std::int64_t batch_size, std::int64_t sequence_length, std::int64_t request_bytes,
           std::int64_t reply_bytes, const absl::Status& status) const;

  /// Starts the clock anew, for the next request of a stream.
  void Restart() { last_ = std::chrono::steady_clock::now(); }

 private:
  [[nodiscard]] absl::Status CountDecoded(const grpc::ByteBuffer& bytes, std::int64_t max_bytes,
                                          const google::protobuf::Descriptor& type);
  [[nodiscard]] observability::CallNames Names() const;

  Gate& gate_;
  const Method method_;
  grpc::CallbackServerContext* const context_;
  const std::chrono::steady_clock::time_point started_;
  std::chrono::steady_clock::time_point last_;  // when the request that is answered now arrived
  std::atomic<bool> cancelled_ = false;
  bool has_room_ = false;
  std::int64_t request_bytes_ = 0;       // that the gate has counted
  mutable std::string made_request_id_;  // where the caller has given none; made when it is first needed
};

/// Whether a request of so many bytes should not even be decoded on gRPC's own threads.
[[nodiscard]] bool IsLarge(const grpc::ByteBuffer& request);

/// Encodes a message into one slice; an empty message gives one empty slice, since gRPC aborts on a reply that has
/// none.
[[nodiscard]] grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_CALL_H_
