#include "client/fake/stream.h"

#include <utility>

namespace embd::client::fake {

Stream::Stream(Answer answer, const CallOptions& options)
    : answer_(std::move(answer)), on_stop_(options.cancel, [this] { Cancel(); }) {}

absl::Status Stream::Send(const EmbedRequest& request, absl::string_view request_id) {
  {
    const MutexLock lock(&mutex_);
    if (sending_closed_) return absl::FailedPreconditionError("requests cannot be sent after CloseSending");
    if (cancelled_) return absl::AbortedError("the stream has ended; Receive returns why");
  }
  StreamItem item = {.request_id = std::string(request_id), .result = answer_(request)};
  const MutexLock lock(&mutex_);
  item.index = sent_++;
  items_.push_back(std::move(item));
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::Status Stream::CloseSending() {
  const MutexLock lock(&mutex_);
  if (cancelled_ && !sending_closed_) return absl::AbortedError("the stream has ended; Receive returns why");
  sending_closed_ = true;
  changed_.NotifyAll();
  return absl::OkStatus();
}

absl::StatusOr<std::optional<StreamItem>> Stream::Receive() {
  const MutexLock lock(&mutex_);
  while (!cancelled_ && !sending_closed_ && items_.empty()) changed_.Wait(&mutex_);
  if (cancelled_) return absl::CancelledError("the stream was cancelled");
  if (items_.empty()) return std::nullopt;
  StreamItem item = std::move(items_.front());
  items_.pop_front();
  return item;
}

void Stream::Cancel() {
  const MutexLock lock(&mutex_);
  cancelled_ = true;
  changed_.NotifyAll();
}

}  // namespace embd::client::fake
