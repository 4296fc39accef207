// Callers that go through embd::client: to embd, to the floor, and to the Python server.

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "embd/client/client.h"
#include "tests/bench/caller.h"
#include "tests/bench/gpt2_sized.h"

namespace embd::bench {
namespace {

client::EmbedRequest Request(const LoadOptions& options) {
  return {.model = kModelName,
          .ids = options.Ids(),
          .batch_size = options.batch,
          .sequence_length = options.tokens,
          .output_type = options.float16 ? client::DataType::kFloat16 : client::DataType::kFloat32};
}

class UnaryCaller : public Caller {
 public:
  UnaryCaller(client::Client client, const LoadOptions& options)
      : Caller(options.TensorBytes()),
        client_(std::move(client)),
        request_(Request(options)),
        options_{.chunks = options.mode == "auto" ? client::Chunks::kAuto : client::Chunks::kNever} {}

  absl::Status Call(std::span<std::byte> out) override { return client_.EmbedInto(request_, out, options_).status(); }

 protected:
  [[nodiscard]] const client::Client& client() const { return client_; }
  [[nodiscard]] const client::EmbedRequest& request() const { return request_; }

  [[nodiscard]] absl::Status CheckSize(const absl::StatusOr<client::Embedding>& result) {
    if (!result.ok()) return result.status();
    const std::size_t size = result->bytes().size();
    return size == out().size() ? absl::OkStatus() : WrongSize(size, out().size());
  }

 private:
  const client::Client client_;
  const client::EmbedRequest request_;
  const client::CallOptions options_;
};

// Keeps some calls under way: each that completes starts the next one, until the end.
class AsyncCaller final : public UnaryCaller {
 public:
  AsyncCaller(client::Client client, const LoadOptions& options)
      : UnaryCaller(std::move(client), options), outstanding_(options.outstanding) {}

  absl::Status Run(Clock::time_point end, std::vector<float>* microseconds) override {
    end_ = end;
    microseconds_ = microseconds;
    std::unique_lock lock(mutex_);
    under_way_ = outstanding_;
    lock.unlock();
    for (int i = 0; i < outstanding_; ++i) Start();
    lock.lock();
    done_.wait(lock, [this] { return under_way_ == 0; });
    return status_;
  }

 private:
  void Start() {
    const Clock::time_point start = Clock::now();
    client().EmbedAsync(request(),
                        [this, start](const absl::StatusOr<client::Embedding>& result) { Done(start, result); });
  }

  void Done(Clock::time_point start, const absl::StatusOr<client::Embedding>& result) {
    absl::Status status = CheckSize(result);
    {
      const std::lock_guard lock(mutex_);
      if (!status.ok()) status_ = std::move(status);
      microseconds_->push_back(MicrosecondsSince(start));
      if (!status_.ok() || Clock::now() >= end_) {
        if (--under_way_ == 0) done_.notify_one();
        return;
      }
    }
    Start();
  }

  const int outstanding_;
  Clock::time_point end_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<float>* microseconds_ = nullptr;
  absl::Status status_;
  int under_way_ = 0;
};

// One stream that is kept filled.
class StreamCaller final : public UnaryCaller {
 public:
  StreamCaller(client::Client client, const LoadOptions& options)
      : UnaryCaller(std::move(client), options), outstanding_(options.outstanding) {}

  absl::Status Run(Clock::time_point end, std::vector<float>* microseconds) override {
    auto stream = client().OpenStream();
    if (!stream.ok()) return stream.status();
    std::deque<Clock::time_point> sent;
    while (true) {
      while (static_cast<int>(sent.size()) < outstanding_ && Clock::now() < end) {
        sent.push_back(Clock::now());
        if (absl::Status status = stream->Send(request()); !status.ok()) break;  // Receive tells why
      }
      if (sent.empty()) break;
      auto item = stream->Receive();
      if (!item.ok()) return item.status();
      if (!item->has_value()) return absl::InternalError("the stream ended early");
      if (absl::Status status = CheckSize((*item)->result); !status.ok()) return status;
      microseconds->push_back(MicrosecondsSince(sent.front()));
      sent.pop_front();
    }
    return stream->CloseSending();
  }

 private:
  const int outstanding_;
};

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Caller>>> MakeEmbdCallers(const LoadOptions& options) {
  std::vector<std::unique_ptr<Caller>> callers;
  auto client = client::Client::Connect(options.address);
  for (int i = 0; i < options.callers; ++i) {
    if (i > 0 && !options.one_connection) client = client::Client::Connect(options.address);
    if (!client.ok()) return client.status();
    if (options.mode == "async") {
      callers.push_back(std::make_unique<AsyncCaller>(*client, options));
    } else if (options.mode == "stream") {
      callers.push_back(std::make_unique<StreamCaller>(*client, options));
    } else {
      callers.push_back(std::make_unique<UnaryCaller>(*client, options));
    }
  }
  return callers;
}

}  // namespace embd::bench
