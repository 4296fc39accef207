#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "embd/client/client.h"
#include "gmock/gmock.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/client/tensor_reply.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::ElementsAre;

EmbedRequest RequestFor(std::int64_t id) { return {.model = "m", .ids = {id}, .batch_size = 1, .sequence_length = 1}; }

// Answers each request with its id, once `released` is notified.
class EchoServer {
 public:
  EchoServer()
      : server_({.embed = [this](grpc::ServerContext*, const v1::EmbedRequest& request, v1::EmbedResponse* response) {
          released_.WaitForNotification();
          SetTensor({1, 1, 1}, {static_cast<float>(request.ids(0))}, response);
          return grpc::Status::OK;
        }}) {}
  ~EchoServer() {
    if (!released_.HasBeenNotified()) released_.Notify();
  }

  [[nodiscard]] Client Connect() const { return Client::Connect(server_.address()).value(); }
  void Release() { released_.Notify(); }

 private:
  absl::Notification released_;
  ScriptedServer server_;
};

TEST(EmbedAsync, ManyCallsGoOnAtATimeAndEachGetsItsAnswer) {
  EchoServer server;
  const Client client = server.Connect();
  std::vector<std::future<absl::StatusOr<Embedding>>> results;

  for (int id = 0; id < 20; ++id) results.push_back(client.EmbedAsync(RequestFor(id)));
  server.Release();

  for (std::size_t id = 0; id < results.size(); ++id) {
    ASSERT_OK_AND_ASSIGN(const Embedding embedding, results[id].get());
    EXPECT_THAT(*embedding.As<float>(), ElementsAre(static_cast<float>(id)));
  }
}

TEST(EmbedAsync, CallsBackOnceWithAnError) {
  const ScriptedServer server({});
  std::atomic<int> calls = 0;
  absl::Status status;
  {
    const Client client = Client::Connect(server.address()).value();
    client.EmbedAsync(RequestFor(1), [&](absl::StatusOr<Embedding> result) {
      status = result.status();
      ++calls;
    });
  }  // waits for it

  EXPECT_EQ(calls, 1);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kUnimplemented, "not in the script"));
}

TEST(EmbedAsync, IsCancelledByItsStopSource) {
  const EchoServer server;
  const Client client = server.Connect();
  std::stop_source stop;

  auto result = client.EmbedAsync(RequestFor(1), {.cancel = stop.get_token()});
  stop.request_stop();

  EXPECT_THAT(result.get(), StatusIs(absl::StatusCode::kCancelled, _));
}

TEST(EmbedAsync, KeepsItsTimeout) {
  const EchoServer server;
  const Client client = server.Connect();

  EXPECT_THAT(client.EmbedAsync(RequestFor(1), {.timeout = absl::Milliseconds(50)}).get(),
              StatusIs(absl::StatusCode::kDeadlineExceeded, _));
}

TEST(EmbedAsync, LastClientMayGoAwayInTheCallback) {
  EchoServer server;
  auto client = std::make_shared<std::optional<Client>>(server.Connect());
  std::promise<bool> done;

  (*client)->EmbedAsync(RequestFor(1), [client, &done](absl::StatusOr<Embedding> result) {
    client->reset();
    done.set_value(result.ok());
  });
  server.Release();

  EXPECT_TRUE(done.get_future().get());
}

TEST(EmbedAsync, LastClientWaitsForCallsUnderWay) {
  EchoServer server;
  std::future<absl::StatusOr<Embedding>> result;
  {
    const Client client = server.Connect();
    result = client.EmbedAsync(RequestFor(1));
    server.Release();
  }

  EXPECT_EQ(result.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  EXPECT_THAT(result.get(), IsOk());
}

TEST(EmbedAsync, CallbackMayMakeTheNextCall) {
  EchoServer server;
  server.Release();
  const Client client = server.Connect();
  std::promise<absl::StatusOr<Embedding>> second;

  client.EmbedAsync(RequestFor(1), [&](absl::StatusOr<Embedding>) {
    client.EmbedAsync(RequestFor(2), [&](absl::StatusOr<Embedding> result) { second.set_value(std::move(result)); });
  });

  EXPECT_THAT(second.get_future().get(), IsOk());
}

}  // namespace
}  // namespace embd::client
