// Callers that go through embd::client: to embd, to the floor, and to the Python server.

#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "embd/client/client.h"
#include "embd/client/shared_region.h"
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

// The server writes into memory that is shared with it; what the elements are then used for is not measured.
class SharedCaller final : public Caller {
 public:
  static MadeCaller Make(const client::Client& client, const LoadOptions& options) {
    auto region = client::SharedRegion::Create(client, options.TensorBytes());
    if (!region.ok()) return region.status();
    return std::unique_ptr<Caller>(new SharedCaller(client, *std::move(region), options));
  }

  absl::Status Call(std::span<std::byte> out) override {
    if (absl::Status status = Ask(); !status.ok()) return status;
    std::memcpy(out.data(), region_.bytes().data(), out.size());
    return absl::OkStatus();
  }

  absl::Status Run(Clock::time_point end, std::vector<float>* microseconds) override {
    for (int calls = 0; calls < kLeastCalls || Clock::now() < end; ++calls) {
      const Clock::time_point start = Clock::now();
      if (absl::Status status = Ask(); !status.ok()) return status;
      microseconds->push_back(MicrosecondsSince(start));
    }
    return absl::OkStatus();
  }

 private:
  SharedCaller(client::Client client, client::SharedRegion region, const LoadOptions& options)
      : Caller(options.TensorBytes()),
        client_(std::move(client)),
        region_(std::move(region)),
        request_(Request(options)) {
    request_.output_target = region_.Target();
  }

  absl::Status Ask() {
    const auto info = client_.EmbedToRegion(request_);
    if (!info.ok()) return info.status();
    const auto size = info->written.has_value() ? static_cast<std::size_t>(info->written->byte_size) : 0;
    return size == out().size() ? absl::OkStatus() : WrongSize(size, out().size());
  }

  const client::Client client_;
  client::SharedRegion region_;
  client::EmbedRequest request_;
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
    } else if (options.mode == "shared") {
      auto caller = SharedCaller::Make(*client, options);
      if (!caller.ok()) return caller.status();
      callers.push_back(*std::move(caller));
    } else {
      callers.push_back(std::make_unique<UnaryCaller>(*client, options));
    }
  }
  return callers;
}

}  // namespace embd::bench
