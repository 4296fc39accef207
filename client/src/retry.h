#ifndef EMBD_CLIENT_SRC_RETRY_H_
#define EMBD_CLIENT_SRC_RETRY_H_

#include <atomic>
#include <optional>
#include <stop_token>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/support/status.h"

// Calls that only ask are tried again by this library rather than by gRPC, which stops once a part of the reply has
// come: a server that dies while it sends must not be seen by the caller either.
namespace embd::client {

/// Keeps tries from making an outage worse, as gRPC's retryThrottling does: a failed try takes a token of a thousand, a
/// call that is answered brings half of one, and with less than half of them no call is tried again.
///
/// Thread safety: thread-safe.
class RetryBudget {
 public:
  void CountFailure();
  void CountSuccess();
  [[nodiscard]] bool AllowsRetry() const;

 private:
  static constexpr int kMost = 2000;  // half tokens

  std::atomic<int> tokens_ = kMost;
};

/// The tries of one call.
///
/// Thread safety: not thread-safe.
class Retry {
 public:
  /// `deadline` is by SteadyNow. `budget` outlives this.
  Retry(int max_attempts, absl::Time deadline, std::stop_token cancel, RetryBudget* budget)
      : max_attempts_(max_attempts), deadline_(deadline), cancel_(std::move(cancel)), budget_(*budget) {}

  /// Counts a try that was answered.
  void CountSuccess() { budget_.CountSuccess(); }

  /// Counts a try that ended with `status`. Returns how long to wait before the next one; nothing where there is to be
  /// none: for other errors than UNAVAILABLE, RESOURCE_EXHAUSTED and a CANCELLED that is gRPC's own (a server that
  /// shuts down drops so what reaches it late), where the server says that it is in vain or `cancel` is requested, and
  /// after the last try. No longer than the deadline lets; IsTooLate is to be asked after it.
  ///
  /// A call that was never sent, because its connection was asked to end just then (GOAWAY), is no try; up to ten of
  /// them in all go, nearly at once, to another connection.
  [[nodiscard]] std::optional<absl::Duration> PauseAfter(const grpc::Status& status,
                                                         const grpc::ClientContext& context);

  /// Whether the deadline has come during a pause; the call then ends with TooLate. (gRPC might still make it: its
  /// clock goes by milliseconds.)
  [[nodiscard]] bool IsTooLate() const;
  [[nodiscard]] static absl::Status TooLate();

 private:
  // No longer than the deadline lets.
  [[nodiscard]] absl::Duration Within(absl::Duration pause) const;

  const int max_attempts_;
  const absl::Time deadline_;
  const std::stop_token cancel_;
  RetryBudget& budget_;
  int attempts_ = 0;
  int unsent_ = 0;
};

/// Waits, for less where `cancel` is requested.
void Pause(absl::Duration duration, const std::stop_token& cancel);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_RETRY_H_
