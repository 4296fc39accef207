// Calls that wait on a connection for their turn while the server asks it to end, as servers do with old ones. None of
// them was sent, so none may be lost, also, but for streams, where calls are tried once.

#include <atomic>
#include <map>
#include <string>
#include <thread>

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

const EmbedRequest kRequest = {.model = "m", .ids = {0}, .batch_size = 1, .sequence_length = 1};
const ClientOptions kOnce = {.max_attempts = 1};
constexpr int kMaxAgeMs = 200;

// A server of which each connection takes `streams` calls at once and is asked to end at an age of 200 ms. The first
// call lasts until a later one has been answered.
class AgingServer {
 public:
  explicit AgingServer(int streams)
      : server_({.embed =
                     [this](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
                       SetTensor({1, 1, 1}, {1}, response);
                       return Hold();
                     },
                 .embed_stream = [this](grpc::ServerContext*, auto*) { return Hold(); },
                 .embed_chunks =
                     [this](grpc::ServerContext*, const v1::EmbedChunksRequest&,
                            grpc::ServerWriter<v1::EmbedChunksResponse>* writer) {
                       grpc::Status status = Hold();
                       writer->Write(OneRow());
                       return status;
                     },
                 .list_models = [this](grpc::ServerContext*, const v1::ListModelsRequest&,
                                       v1::ListModelsResponse*) { return Hold(); }},
                "127.0.0.1:0",
                {{GRPC_ARG_MAX_CONCURRENT_STREAMS, streams}, {GRPC_ARG_MAX_CONNECTION_AGE_MS, kMaxAgeMs}}) {}

  [[nodiscard]] Client Connect(const ClientOptions& options = kOnce) const {
    return Client::Connect(server_.address(), options).value();
  }

  void WaitForFirst() { entered_.WaitForNotification(); }
  void Release() { released_.Notify(); }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  static v1::EmbedChunksResponse OneRow() {
    v1::EmbedChunksResponse message;
    v1::EmbedChunksHeader& header = *message.mutable_header();
    header.set_data_type(v1::DATA_TYPE_FLOAT32);
    for (const int extent : {1, 1, 1}) header.add_shape(extent);
    header.set_total_rows(1);
    header.set_total_bytes(4);
    message.set_row_count(1);
    message.set_last(true);
    message.set_data(std::string(4, '\0'));
    return message;
  }

  grpc::Status Hold() {
    if (calls_++ == 0) {
      entered_.Notify();
      released_.WaitForNotification();
    }
    return grpc::Status::OK;
  }

  std::atomic<int> calls_ = 0;
  absl::Notification entered_;
  absl::Notification released_;
  ScriptedServer server_;
};

// Makes `first` hold the only place on the connection while `second` waits for it.
template <typename First, typename Second>
void HoldAndCall(AgingServer& server, const First& first, const Second& second) {
  std::thread holder(first);
  server.WaitForFirst();
  second();
  server.Release();
  holder.join();
}

// Of a client that watches the health by a call on the same connection.
constexpr int kOneBesideTheWatch = 2;

class UnsentCallTest : public ::testing::Test {
 protected:
  AgingServer server_{kOneBesideTheWatch};
  const Client client_ = server_.Connect();
};

TEST_F(UnsentCallTest, IsMadeOnTheNextConnection) {
  HoldAndCall(
      server_, [this] { EXPECT_THAT(client_.Embed(kRequest), IsOk()); },
      [this] { EXPECT_THAT(client_.Embed(kRequest), IsOk()); });

  EXPECT_EQ(server_.calls(), 2);
}

TEST_F(UnsentCallTest, IsMadeOnTheNextConnectionInBlocks) {
  const CallOptions in_blocks = {.chunks = Chunks::kAlways};
  HoldAndCall(
      server_, [&] { EXPECT_THAT(client_.Embed(kRequest, in_blocks), IsOk()); },
      [&] { EXPECT_THAT(client_.Embed(kRequest, in_blocks), IsOk()); });

  EXPECT_EQ(server_.calls(), 2);
}

TEST_F(UnsentCallTest, IsMadeOnTheNextConnectionAsynchronously) {
  HoldAndCall(
      server_, [this] { EXPECT_THAT(client_.Embed(kRequest), IsOk()); },
      [this] { EXPECT_THAT(client_.EmbedAsync(kRequest).get(), IsOk()); });

  EXPECT_EQ(server_.calls(), 2);
}

TEST_F(UnsentCallTest, OfAStreamIsMadeOnTheNextConnectionWhereCallsAreTriedAgain) {
  const Client client = server_.Connect(ClientOptions());
  const auto open = [&client] {
    ASSERT_OK_AND_ASSIGN(EmbedStream stream, client.OpenStream());
    EXPECT_THAT(stream.Receive(), IsOk());
  };
  HoldAndCall(server_, open, open);

  EXPECT_EQ(server_.calls(), 2);
}

TEST(UnsentCall, ToAnyStateIsMadeOnTheNextConnection) {
  AgingServer server(1);
  const Client client = server.Connect();

  HoldAndCall(
      server, [&client] { EXPECT_THAT(client.ListModels(), IsOk()); },
      [&client] { EXPECT_THAT(client.ListModels(), IsOk()); });

  EXPECT_EQ(server.calls(), 2);
}

TEST(UnsentCall, ThatChangesSomethingIsMadeOnTheNextConnection) {
  AgingServer server(1);
  const Client client = server.Connect();

  HoldAndCall(
      server, [&client] { EXPECT_THAT(client.ListModels(), IsOk()); },
      // The server, which has no AdminService, has seen it.
      [&client] { EXPECT_THAT(client.LoadModel("m"), StatusIs(absl::StatusCode::kUnimplemented, ::testing::_)); });
}

}  // namespace
}  // namespace embd::client
