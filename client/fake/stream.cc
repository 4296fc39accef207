#include "client/fake/stream.h"

#include <utility>

namespace embd::client::fake {

Stream::Stream(Answer answer, const CallOptions& options)
    : answer_(std::move(answer)), on_stop_(options.cancel, [this] { Cancel(); }) {}

absl::Status Stream::Send(const EmbedRequest& request, absl::string_view request_id) {
  {
    const std::lock_guard lock(mutex_);
    if (sending_closed_) return absl::FailedPreconditionError("requests cannot be sent after CloseSending");
    if (cancelled_) return absl::AbortedError("the stream has ended; Receive returns why");
  }
  StreamItem item = {.request_id = std::string(request_id), .result = answer_(request)};
  const std::lock_guard lock(mutex_);
  item.index = sent_++;
  items_.push_back(std::move(item));
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status Stream::CloseSending() {
  const std::lock_guard lock(mutex_);
  if (cancelled_ && !sending_closed_) return absl::AbortedError("the stream has ended; Receive returns why");
  sending_closed_ = true;
  changed_.notify_all();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<StreamItem>> Stream::Receive() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return cancelled_ || sending_closed_ || !items_.empty(); });
  if (cancelled_) return absl::CancelledError("the stream was cancelled");
  if (items_.empty()) return std::nullopt;
  StreamItem item = std::move(items_.front());
  items_.pop_front();
  return item;
}

void Stream::Cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

}  // namespace embd::client::fake
