#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

config::ServerConfig Config() {
  config::ServerConfig config;
  config.models = {testing::SmallModel("tiny", 10, 1024, 4096)};
  return config;
}

client::EmbedRequest Request(std::int64_t batch, std::int64_t tokens) {
  return {.model = "tiny",
          .ids = std::vector<std::int64_t>(static_cast<std::size_t>(batch * tokens), 3),
          .batch_size = batch,
          .sequence_length = tokens};
}

TEST(ServerLife, SecondServerOnThePortIsRefused) {
  const testing::ServedModels served(Config());
  config::ServerConfig second = Config();
  second.listen = {served.tcp_address()};

  EXPECT_THAT(
      app::EmbeddingServer::Start(second),
      AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cannot listen on \"" + served.tcp_address())),
            ReasonIs("CANNOT_LISTEN")));
}

TEST(ServerLife, SecondServerOnTheUnixSocketIsRefusedAndTheFirstGoesOn) {
  const testing::ServedModels served(Config());
  config::ServerConfig second = Config();
  second.listen = {served.unix_address()};

  EXPECT_THAT(
      app::EmbeddingServer::Start(second),
      AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("cannot listen on \"" + served.unix_address())),
            ReasonIs("CANNOT_LISTEN")));
  EXPECT_THAT(served.UnixClient().Embed(Request(1, 1)), IsOk());
}

// While the first one drains, its successor already has the socket; the first one's end must not take it away.
TEST(ServerLife, SocketOfASuccessorSurvivesTheEndOfTheServerBefore) {
  testing::ServedModels first(Config());
  auto stream = first.TcpClient().OpenStream({.timeout = absl::Seconds(20)});
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Send(Request(1, 1)), IsOk());
  ASSERT_THAT(stream->Receive(), IsOk());
  std::thread stopping([&] { first.server().Shutdown(absl::Seconds(20)); });
  config::ServerConfig second = Config();
  second.listen = {first.unix_address()};
  auto successor = app::EmbeddingServer::Start(second);
  for (; !successor.ok(); successor = app::EmbeddingServer::Start(second)) {
    ASSERT_THAT(successor, ReasonIs("CANNOT_LISTEN"));
  }

  EXPECT_THAT(stream->CloseSending(), IsOk());
  EXPECT_FALSE(stream->Receive()->has_value());
  stopping.join();

  EXPECT_THAT(client::Client::Connect(second.listen[0])->Embed(Request(1, 1)), IsOk());
}

TEST(ServerLife, ShutdownIsLoggedOnce) {
  ::testing::internal::CaptureStderr();
  {
    testing::ServedModels served(Config());
    served.server().Shutdown(absl::ZeroDuration());
  }
  const std::string log = ::testing::internal::GetCapturedStderr();

  const std::size_t first = log.find("draining");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(log.find("draining", first + 1), std::string::npos) << log;
}

TEST(ServerLife, TableThatCannotFitIsRefusedAtOnce) {
  config::ServerConfig config = Config();
  config.models = {testing::SmallModel("vast", 268435456, 1024, 0)};

  EXPECT_THAT(app::EmbeddingServer::Start(config),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted,
                             AllOf(HasSubstr("model \"vast\""), HasSubstr("needs 1099511627776 bytes"))),
                    ReasonIs("OUT_OF_MEMORY")));
}

TEST(ServerLife, ShutdownLetsCallsInFlightEnd) {
  testing::ServedModels served(Config());
  auto stream = served.TcpClient().OpenStream({.timeout = absl::Seconds(20)});
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Send(Request(1, 1)), IsOk());
  ASSERT_THAT(stream->Receive(), IsOk());

  std::thread stopping([&] { served.server().Shutdown(absl::Seconds(20)); });
  while (served.TcpClient().Embed(Request(1, 1), {.timeout = absl::Seconds(1)}).ok()) {
  }
  ASSERT_THAT(stream->Send(Request(2, 1024)), IsOk());
  const auto item = stream->Receive();
  ASSERT_THAT(item, IsOk());
  ASSERT_TRUE(item->has_value());
  EXPECT_THAT((*item)->result, IsOk());
  EXPECT_THAT(stream->CloseSending(), IsOk());
  EXPECT_FALSE(stream->Receive()->has_value());
  stopping.join();
}

TEST(ServerLife, ShutdownCancelsWhatDoesNotEndInTime) {
  testing::ServedModels served(Config());
  auto stream = served.TcpClient().OpenStream({.timeout = absl::Seconds(20)});
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Send(Request(1, 1)), IsOk());
  ASSERT_THAT(stream->Receive(), IsOk());

  served.server().Shutdown(absl::Milliseconds(50));

  EXPECT_FALSE(stream->Receive().ok());
}

TEST(ServerLife, CallAfterShutdownIsUnavailable) {
  testing::ServedModels served(Config());
  const client::Client client = client::Client::Connect(served.tcp_address(), {.max_attempts = 1}).value();
  ASSERT_THAT(client.Embed(Request(1, 1)), IsOk());

  served.server().Shutdown(absl::Seconds(1));

  EXPECT_THAT(client.Embed(Request(1, 1)), StatusIs(absl::StatusCode::kUnavailable, ::testing::_));
}

TEST(ServerLife, DeadlineThatPassesStopsTheCall) {
  const testing::ServedModels served(Config());
  const client::Client client = served.TcpClient();

  EXPECT_THAT(client.Embed(Request(16, 4096), {.timeout = absl::Milliseconds(1)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
  EXPECT_THAT(client.Embed(Request(1, 1)), IsOk());
}

// 16 x 16 MiB against a bound of 40 MiB: some are told to come again, and the client's retry lets all through in the
// end.
TEST(ServerLife, TooManyBytesInFlightIsOverloadedAndRetried) {
  config::ServerConfig config = Config();
  config.limits.max_bytes_in_flight = 40 << 20;
  const testing::ServedModels served(config);
  const client::Client impatient = client::Client::Connect(served.tcp_address(), {.max_attempts = 1}).value();

  std::vector<std::thread> callers;
  std::atomic<int> done = 0;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < 4; ++call) {
        const auto result = impatient.Embed(Request(1, 4096));
        EXPECT_THAT(result, AnyOf(IsOk(), AllOf(StatusIs(absl::StatusCode::kResourceExhausted,
                                                         HasSubstr("max_bytes_in_flight of this server is 41943040")),
                                                ReasonIs("OVERLOADED"))));
        if (result.ok()) ++done;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();

  EXPECT_GT(done.load(), 0);
  EXPECT_THAT(served.TcpClient().Embed(Request(1, 4096)), IsOk()) << "what was in flight has been given back";
}

TEST(ServerLife, ReplyLargerThanAllBytesInFlightNeverFits) {
  config::ServerConfig config = Config();
  config.limits.max_bytes_in_flight = 1 << 20;
  const testing::ServedModels served(config);

  EXPECT_THAT(served.TcpClient().Embed(Request(1, 1024), {.chunks = client::Chunks::kNever}),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("exceeds max_bytes_in_flight 1048576")),
                    ReasonIs("RESPONSE_TOO_LARGE")));
}

TEST(ServerLife, ModelThatCannotBeLoadedStopsTheServerWithItsName) {
  config::ServerConfig config;
  config.listen = {"127.0.0.1:0"};
  config.models = {{.name = "gone", .token = config::TableFile{.path = "/nonexistent/table.npy"}}};

  EXPECT_THAT(
      app::EmbeddingServer::Start(config),
      StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("model \"gone\""), HasSubstr("/nonexistent/table.npy"))));
}

TEST(ServerLife, RepliesOver4MebibytesReachTheClientLibrary) {
  const testing::ServedModels served(Config());

  const auto result = served.TcpClient().Embed(Request(2, 4096));

  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->bytes().size(), 2u * 4096 * 1024 * 4);
}

TEST(ServerLife, ManyCallersAtOnceGetTheSameBytes) {
  const testing::ServedModels served(Config());
  const client::Client client = served.TcpClient();
  const auto expected = client.Embed(Request(2, 700));
  ASSERT_THAT(expected, IsOk());

  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < 10; ++call) {
        const auto result = client.Embed(Request(2, 700));
        ASSERT_THAT(result, IsOk());
        ASSERT_TRUE(std::ranges::equal(result->bytes(), expected->bytes()));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
}

}  // namespace
}  // namespace embd
