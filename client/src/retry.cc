#include "client/src/retry.h"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "client/src/steady_time.h"
#include "proto/wire/status.h"

namespace embd::client {
namespace {

constexpr absl::Duration kFirstPause = absl::Milliseconds(50);
constexpr absl::Duration kLongestPause = absl::Seconds(1);
constexpr int kMostUnsent = 10;  // of one call, where a server sends everyone away
constexpr absl::Duration kFirstPauseOfUnsent = absl::Milliseconds(1);

// What the server says of further tries, in milliseconds; -1: none.
std::optional<std::int64_t> Pushback(const grpc::Status& status, const grpc::ClientContext& context) {
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find("grpc-retry-pushback-ms");
  if (found == trailers.end()) return wire::RetryAfterMs(wire::FromGrpcStatus(status));
  std::int64_t ms = 0;
  return absl::SimpleAtoi(std::string(found->second.data(), found->second.size()), &ms) && ms >= 0 ? ms : -1;
}

bool MayPass(const grpc::Status& status, std::optional<std::int64_t> pushback) {
  if (pushback.has_value() && *pushback < 0) return false;
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) return true;
  if (status.error_code() == grpc::StatusCode::CANCELLED) return status.error_message() == "CANCELLED";
  // Without a time to come back it is no overload but, by gRPC itself, a message that never fits.
  return status.error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED && pushback.has_value();
}

// Whether the call was waiting to be sent when the server asked the connection to end, as it does when that has reached
// its age. Only gRPC's own retries are told more than its words.
bool WasNotSent(const grpc::Status& status) {
  return status.error_code() == grpc::StatusCode::UNAVAILABLE &&
         absl::StartsWith(status.error_message(), "GOAWAY received");
}

absl::Duration Backoff(absl::Duration first, int fruitless) {
  return std::min(first * (1 << std::min(fruitless, 10)), kLongestPause);
}

// So that callers who failed together do not come back together.
double Jitter() {
  thread_local std::minstd_rand random{std::random_device()()};
  return std::uniform_real_distribution<double>(0.8, 1.2)(random);
}

}  // namespace

void RetryBudget::CountFailure() {
  int tokens = tokens_.load(std::memory_order_relaxed);
  while (!tokens_.compare_exchange_weak(tokens, std::max(tokens - 2, 0), std::memory_order_relaxed)) {
  }
}

void RetryBudget::CountSuccess() {
  int tokens = tokens_.load(std::memory_order_relaxed);
  while (tokens < kMost && !tokens_.compare_exchange_weak(tokens, tokens + 1, std::memory_order_relaxed)) {
  }
}

bool RetryBudget::AllowsRetry() const { return tokens_.load(std::memory_order_relaxed) > kMost / 2; }

std::optional<absl::Duration> Retry::PauseAfter(const grpc::Status& status, const grpc::ClientContext& context) {
  if (WasNotSent(status) && !cancel_.stop_requested() && unsent_ < kMostUnsent) {
    return Within(Backoff(kFirstPauseOfUnsent, unsent_++));
  }
  ++attempts_;
  const auto pushback = Pushback(status, context);
  if (cancel_.stop_requested() || !MayPass(status, pushback)) return std::nullopt;
  budget_.CountFailure();
  if (attempts_ >= max_attempts_ || !budget_.AllowsRetry()) return std::nullopt;
  const absl::Duration backoff = Backoff(kFirstPause, attempts_ - 1);
  return Within(std::max(backoff, absl::Milliseconds(pushback.value_or(0))) * Jitter());
}

absl::Duration Retry::Within(absl::Duration pause) const {
  // A little past the deadline rather than short of it, so that no call is made in the last moment.
  return std::min(pause, std::max(deadline_ - SteadyNow(), absl::ZeroDuration()) + absl::Milliseconds(1));
}

bool Retry::IsTooLate() const { return attempts_ + unsent_ > 0 && SteadyNow() >= deadline_; }

absl::Status Retry::TooLate() { return absl::DeadlineExceededError("Deadline Exceeded"); }

void Pause(absl::Duration duration, const std::stop_token& cancel) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, cancel, absl::ToChronoNanoseconds(duration), [] { return false; });
}

}  // namespace embd::client
