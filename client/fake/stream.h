#ifndef EMBD_CLIENT_FAKE_STREAM_H_
#define EMBD_CLIENT_FAKE_STREAM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "client/src/mutex.h"
#include "embd/client/transport.h"

namespace embd::client::fake {

/// A stream whose answers are computed when their requests are sent.
class Stream : public StreamTransport {
 public:
  using Answer = std::function<absl::StatusOr<Embedding>(const EmbedRequest&)>;

  Stream(Answer answer, const CallOptions& options);

  [[nodiscard]] absl::Status Send(const EmbedRequest& request, absl::string_view request_id) override;
  [[nodiscard]] absl::Status CloseSending() override;
  [[nodiscard]] absl::StatusOr<std::optional<StreamItem>> Receive() override;
  void Cancel() override;

 private:
  const Answer answer_;
  Mutex mutex_;
  Condition changed_;
  std::deque<StreamItem> items_ ABSL_GUARDED_BY(mutex_);
  std::int64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool sending_closed_ ABSL_GUARDED_BY(mutex_) = false;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  std::stop_callback<std::function<void()>> on_stop_;
};

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_STREAM_H_
