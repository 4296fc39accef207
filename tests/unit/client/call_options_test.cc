#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "absl/synchronization/notification.h"
#include "embd/client/client.h"
#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "proto/wire/status.h"
#include "tests/support/scripted_server.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/client/tensor_reply.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::ScriptedServer;
using ::embd::testing::StatusIs;
using ::testing::_;

const EmbedRequest kRequest = {.model = "m", .ids = {0}, .batch_size = 1, .sequence_length = 1};

grpc::Status AnswerOne(v1::EmbedResponse* response) {
  SetTensor({1, 1, 1}, {1}, response);
  return grpc::Status::OK;
}

// A server that refuses the first `failures` calls with `status`.
class FailingServer {
 public:
  FailingServer(int failures, const absl::Status& status)
      : server_({.embed = [this, failures, status](grpc::ServerContext* context, const v1::EmbedRequest&,
                                                   v1::EmbedResponse* response) {
          if (++calls_ > failures) return AnswerOne(response);
          if (wire::NeverFits(status)) context->AddTrailingMetadata("grpc-retry-pushback-ms", "-1");
          return wire::ToGrpcStatus(status);
        }}) {}

  [[nodiscard]] Client Connect(const ClientOptions& options = {}) const {
    return Client::Connect(server_.address(), options).value();
  }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  std::atomic<int> calls_ = 0;
  ScriptedServer server_;
};

// A server whose calls end only when their clients give up.
class StuckServer {
 public:
  StuckServer()
      : server_({.embed = [this](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
          if (!entered_.HasBeenNotified()) entered_.Notify();
          released_.WaitForNotification();
          return AnswerOne(response);
        }}) {}
  ~StuckServer() { released_.Notify(); }

  [[nodiscard]] Client Connect(const ClientOptions& options = {}) const {
    return Client::Connect(server_.address(), options).value();
  }
  void WaitForCall() { entered_.WaitForNotification(); }

 private:
  absl::Notification entered_;
  absl::Notification released_;
  ScriptedServer server_;
};

absl::Status Overloaded() {
  absl::Status status = ErrorWithReason(absl::StatusCode::kResourceExhausted, "OVERLOADED", "too much in flight");
  wire::SetRetryAfterMs(&status, 20);
  return status;
}

TEST(Retry, UnavailableIsTriedAgainUntilTheServerAnswers) {
  const FailingServer server(2, absl::UnavailableError("starting"));

  EXPECT_THAT(server.Connect().Embed(kRequest), IsOk());
  EXPECT_EQ(server.calls(), 3);
}

TEST(Retry, EndsAfterTheAttemptsOfTheOptions) {
  const FailingServer server(9, absl::UnavailableError("starting"));

  EXPECT_THAT(server.Connect({.max_attempts = 2}).Embed(kRequest),
              StatusIs(absl::StatusCode::kUnavailable, "starting"));
  EXPECT_EQ(server.calls(), 2);
}

TEST(Retry, CanBeSwitchedOff) {
  for (const int max_attempts : {0, 1}) {
    SCOPED_TRACE(max_attempts);
    const FailingServer server(9, absl::UnavailableError("starting"));

    EXPECT_THAT(server.Connect({.max_attempts = max_attempts}).Embed(kRequest),
                StatusIs(absl::StatusCode::kUnavailable, _));
    EXPECT_EQ(server.calls(), 1);
  }
}

TEST(Retry, OverloadIsTriedAgain) {
  const FailingServer server(1, Overloaded());

  EXPECT_THAT(server.Connect().Embed(kRequest), IsOk());
  EXPECT_EQ(server.calls(), 2);
}

TEST(Retry, WhatNeverFitsIsNotTriedAgain) {
  const FailingServer server(9,
                             ErrorWithReason(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE", "never fits"));

  EXPECT_THAT(server.Connect().Embed(kRequest), ReasonIs("RESPONSE_TOO_LARGE"));
  EXPECT_EQ(server.calls(), 1);
}

TEST(Retry, RefusedRequestsAreNotTriedAgain) {
  const FailingServer server(9, absl::InvalidArgumentError("bad"));

  EXPECT_THAT(server.Connect().Embed(kRequest), StatusIs(absl::StatusCode::kInvalidArgument, "bad"));
  EXPECT_EQ(server.calls(), 1);
}

TEST(RetryAfter, IsWhatTheServerSaid) {
  const FailingServer server(9, Overloaded());

  const auto result = server.Connect({.max_attempts = 0}).Embed(kRequest);

  EXPECT_EQ(RetryAfter(result.status()), absl::Milliseconds(20));
  EXPECT_EQ(RetryAfter(absl::UnavailableError("")), std::nullopt);
}

TEST(Timeout, OfACallEndsIt) {
  const StuckServer server;

  EXPECT_THAT(server.Connect().Embed(kRequest, {.timeout = absl::Milliseconds(50)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, _));
}

TEST(Timeout, OfTheClientHoldsForCallsWithoutTheirOwn) {
  const StuckServer server;

  EXPECT_THAT(server.Connect({.timeout = absl::Milliseconds(50)}).Embed(kRequest),
              StatusIs(absl::StatusCode::kDeadlineExceeded, _));
}

TEST(Timeout, OfZeroOrLessFailsAtOnce) {
  const StuckServer server;
  for (const absl::Duration timeout : {absl::ZeroDuration(), absl::Seconds(-1), -absl::InfiniteDuration()}) {
    SCOPED_TRACE(timeout);

    EXPECT_THAT(server.Connect().Embed(kRequest, {.timeout = timeout}),
                StatusIs(absl::StatusCode::kDeadlineExceeded, _));
  }
}

TEST(Timeout, MayBeInfiniteOrVeryLong) {
  const FailingServer server(0, absl::OkStatus());
  for (const absl::Duration timeout : {absl::InfiniteDuration(), absl::Hours(24) * 365 * 1000}) {
    SCOPED_TRACE(timeout);

    EXPECT_THAT(server.Connect().Embed(kRequest, {.timeout = timeout}), IsOk());
  }
}

TEST(Cancel, FromAnotherThreadEndsTheCall) {
  StuckServer server;
  std::stop_source stop;
  std::thread canceller([&] {
    server.WaitForCall();
    stop.request_stop();
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, {.cancel = stop.get_token()}),
              StatusIs(absl::StatusCode::kCancelled, _));
  canceller.join();
}

TEST(Cancel, BeforehandEndsTheCallAtOnce) {
  const FailingServer server(0, absl::OkStatus());
  std::stop_source stop;
  stop.request_stop();

  EXPECT_THAT(server.Connect().Embed(kRequest, {.cancel = stop.get_token()}),
              StatusIs(absl::StatusCode::kCancelled, _));
  EXPECT_EQ(server.calls(), 0);
}

TEST(Cancel, AfterTheCallDoesNothing) {
  const FailingServer server(0, absl::OkStatus());
  std::stop_source stop;

  EXPECT_THAT(server.Connect().Embed(kRequest, {.cancel = stop.get_token()}), IsOk());
  EXPECT_TRUE(stop.request_stop());
}

TEST(Addresses, TakeCallsInTurn) {
  std::atomic<int> calls[2] = {0, 0};
  const auto counting = [&calls](int i) {
    return [&calls, i](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
      ++calls[i];
      return AnswerOne(response);
    };
  };
  const ScriptedServer first({.embed = counting(0)});
  const ScriptedServer second({.embed = counting(1)});
  ASSERT_OK_AND_ASSIGN(const Client client, Client::Connect(first.address() + "," + second.address()));

  // Each is used from when it is connected on, which is not for all at the same time.
  for (int i = 0; i < 10'000 && (calls[0] == 0 || calls[1] == 0); ++i) ASSERT_THAT(client.Embed(kRequest), IsOk());

  EXPECT_GT(calls[0], 0);
  EXPECT_GT(calls[1], 0);
}

class WithoutServerTest : public ::testing::Test {
 protected:
  WithoutServerTest() {
    std::string folder = ::testing::TempDir() + "embdXXXXXX";
    address_ = "unix:" + std::string(mkdtemp(folder.data())) + "/socket";
  }

  std::string address_;  // where nobody listens
};

TEST_F(WithoutServerTest, CallsFailWithUnavailable) {
  ASSERT_OK_AND_ASSIGN(const Client client, Client::Connect(address_));

  EXPECT_THAT(client.Embed(kRequest), StatusIs(absl::StatusCode::kUnavailable, _));
}

TEST_F(WithoutServerTest, CallsThatWaitForReadyAreAnsweredOnceItIsThere) {
  ASSERT_OK_AND_ASSIGN(const Client client, Client::Connect(address_));
  ASSERT_THAT(client.Embed(kRequest), StatusIs(absl::StatusCode::kUnavailable, _));
  auto result = client.EmbedAsync(kRequest, {.wait_for_ready = true});

  const ScriptedServer server({.embed = [](grpc::ServerContext*, const v1::EmbedRequest&,
                                           v1::EmbedResponse* response) { return AnswerOne(response); }},
                              address_);

  EXPECT_THAT(result.get(), IsOk());
}

TEST_F(WithoutServerTest, CallsThatWaitForReadyKeepTheirTimeout) {
  ASSERT_OK_AND_ASSIGN(const Client client, Client::Connect(address_));

  EXPECT_THAT(client.Embed(kRequest, {.timeout = absl::Milliseconds(50), .wait_for_ready = true}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, _));
}

TEST_F(WithoutServerTest, StreamsCannotBeOpened) {
  ASSERT_OK_AND_ASSIGN(const Client client, Client::Connect(address_));

  EXPECT_THAT(client.OpenStream(), StatusIs(absl::StatusCode::kUnavailable, _));
}

TEST(ClientOptions, OutsideTheirRangeAreRefused) {
  EXPECT_THAT(Client::Connect("localhost:1", {.max_attempts = 6}),
              StatusIs(absl::StatusCode::kInvalidArgument, "max_attempts 6 is outside [0, 5]"));
  EXPECT_THAT(Client::Connect("localhost:1", {.max_attempts = -1}), StatusIs(absl::StatusCode::kInvalidArgument, _));
  EXPECT_THAT(Client::Connect("localhost:1", {.keepalive_interval = absl::Seconds(9)}),
              StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("keepalive_interval 9s")));
}

}  // namespace
}  // namespace embd::client
