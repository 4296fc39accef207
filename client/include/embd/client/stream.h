#ifndef EMBD_CLIENT_STREAM_H_
#define EMBD_CLIENT_STREAM_H_

#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/client/embedding.h"
#include "embd/client/transport.h"

namespace embd::client {

/// A stream of batches: one answer a request, in the order of the requests.
///
/// Many small batches go several times as fast this way as by single calls, as long as some are under way: about 16
/// small ones, or 2 of some 400 KB. The server reads only so far ahead, so `Send` blocks while nobody receives: receive
/// in another thread, or after every few requests.
///
/// Thread safety: one thread may send while another one receives. Movable, not copyable; a moved-from one may only be
/// assigned to or destroyed. Destruction cancels what goes on and waits for nothing; no call may be under way then.
class EmbedStream {
 public:
  explicit EmbedStream(std::unique_ptr<StreamTransport> transport) : transport_(std::move(transport)) {}

  /// Sends one request. `request_id` is echoed in its answer; the server does not look at it.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  after CloseSending.
  ///   ABORTED              the stream has ended; `Receive` returns why.
  [[nodiscard]] absl::Status Send(const EmbedRequest& request, absl::string_view request_id = "") {
    return transport_->Send(request, request_id);
  }

  /// Says that no more requests come; the answers to those already sent still do. A second time does nothing.
  ///
  /// Errors:
  ///   ABORTED  the stream has ended; `Receive` returns why.
  [[nodiscard]] absl::Status CloseSending() { return transport_->CloseSending(); }

  /// Waits for the next answer; nothing when the stream has come to its end, which it does after CloseSending and the
  /// last answer. A refused request is an item whose `result` is an error.
  ///
  /// Errors: those that end the stream, e.g. UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED; again by every later call.
  /// Answers come in order: of the requests that were sent, those behind the last answer were not answered, and may be
  /// sent again on a new stream.
  [[nodiscard]] absl::StatusOr<std::optional<StreamItem>> Receive() { return transport_->Receive(); }

  /// Ends the stream now, from any thread; `Receive` returns CANCELLED.
  void Cancel() { transport_->Cancel(); }

 private:
  std::unique_ptr<StreamTransport> transport_;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_STREAM_H_
