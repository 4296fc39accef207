#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "embd/client/client.h"
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
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using ServerStream = grpc::ServerReaderWriter<v1::EmbedStreamResponse, v1::EmbedStreamRequest>;

EmbedRequest RequestFor(std::int64_t id) { return {.model = "m", .ids = {id}, .batch_size = 1, .sequence_length = 1}; }

// Answers id with a tensor of `id`, and a negative id with an error.
grpc::Status Echo(grpc::ServerContext*, ServerStream* stream) {
  v1::EmbedStreamRequest request;
  for (std::int64_t index = 0; stream->Read(&request); ++index) {
    v1::EmbedStreamResponse item;
    item.set_request_id(request.request_id());
    item.set_index(index);
    const std::int64_t id = request.request().ids(0);
    if (id < 0) {
      item.mutable_error()->set_code(3);
      item.mutable_error()->set_message("negative");
      item.mutable_error()->set_reason("ID_OUT_OF_RANGE");
    } else {
      SetTensor({1, 1, 1}, {static_cast<float>(id)}, item.mutable_response());
    }
    if (!stream->Write(item)) break;
  }
  return grpc::Status::OK;
}

EmbedStream Open(const ScriptedServer& server, const CallOptions& options = {}) {
  return Client::Connect(server.address()).value().OpenStream(options).value();
}

TEST(EmbedStream, AnswersInOrderAndGoesOnAfterABadItem) {
  const ScriptedServer server({.embed_stream = Echo});
  EmbedStream stream = Open(server);
  ASSERT_THAT(stream.Send(RequestFor(5), "a"), IsOk());
  ASSERT_THAT(stream.Send(RequestFor(-1), "b"), IsOk());
  ASSERT_THAT(stream.Send(RequestFor(6)), IsOk());
  ASSERT_THAT(stream.CloseSending(), IsOk());

  ASSERT_OK_AND_ASSIGN(const auto first, stream.Receive());
  ASSERT_OK_AND_ASSIGN(const auto second, stream.Receive());
  ASSERT_OK_AND_ASSIGN(const auto third, stream.Receive());
  ASSERT_OK_AND_ASSIGN(const auto end, stream.Receive());

  EXPECT_EQ(first->request_id, "a");
  EXPECT_THAT(*first->result->As<float>(), ElementsAre(5));
  EXPECT_EQ(second->request_id, "b");
  EXPECT_EQ(second->index, 1);
  EXPECT_THAT(second->result,
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, "negative"), ReasonIs("ID_OUT_OF_RANGE")));
  EXPECT_EQ(third->request_id, "");
  EXPECT_THAT(*third->result->As<float>(), ElementsAre(6));
  EXPECT_FALSE(end.has_value());
}

TEST(EmbedStream, SendsVectorsInPlaceOfIds) {
  v1::EmbedStreamRequest received;
  const ScriptedServer server({.embed_stream = [&received](grpc::ServerContext*, ServerStream* stream) {
    stream->Read(&received);
    v1::EmbedStreamResponse item;
    SetTensor({1, 1, 1}, {0}, item.mutable_response());
    stream->Write(item);
    return grpc::Status::OK;
  }});
  EmbedStream stream = Open(server);
  const std::vector<float> values = {1, 2};

  ASSERT_THAT(stream.Send({.model = "m", .inputs_embeds = InputTensor::FromFloats(values, {1, 1, 2})}, "a"), IsOk());
  ASSERT_THAT(stream.Receive(), IsOk());

  v1::EmbedResponse expected;
  SetTensor({1, 1, 2}, values, &expected);
  EXPECT_EQ(received.request_id(), "a");
  EXPECT_EQ(received.request().model(), "m");
  EXPECT_EQ(received.request().inputs_embeds().SerializeAsString(), expected.embeddings().SerializeAsString());
}

TEST(EmbedStream, AfterItsEndStaysAtItsEnd) {
  const ScriptedServer server({.embed_stream = Echo});
  EmbedStream stream = Open(server);
  ASSERT_THAT(stream.CloseSending(), IsOk());
  ASSERT_THAT(stream.Receive(), IsOk());

  ASSERT_OK_AND_ASSIGN(const auto again, stream.Receive());

  EXPECT_FALSE(again.has_value());
}

TEST(EmbedStream, OneThreadMaySendWhileAnotherReceives) {
  constexpr std::int64_t kCount = 2000;
  const ScriptedServer server({.embed_stream = Echo});
  EmbedStream stream = Open(server);
  std::thread sender([&stream] {
    for (std::int64_t id = 0; id < kCount; ++id) ASSERT_THAT(stream.Send(RequestFor(id), absl::StrCat(id)), IsOk());
    ASSERT_THAT(stream.CloseSending(), IsOk());
  });

  std::int64_t received = 0;
  for (auto item = stream.Receive(); item.ok() && item->has_value(); item = stream.Receive(), ++received) {
    EXPECT_EQ((*item)->index, received);
    EXPECT_EQ((*item)->request_id, absl::StrCat(received));
  }
  sender.join();

  EXPECT_EQ(received, kCount);
}

TEST(EmbedStream, RefusesRequestsAfterCloseSending) {
  const ScriptedServer server({.embed_stream = Echo});
  EmbedStream stream = Open(server);
  ASSERT_THAT(stream.CloseSending(), IsOk());

  EXPECT_THAT(stream.Send(RequestFor(1)), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("CloseSending")));
  EXPECT_THAT(stream.CloseSending(), IsOk());
}

TEST(EmbedStream, ReturnsTheStatusThatEndedItAgainAndAgain) {
  const ScriptedServer server({.embed_stream = [](grpc::ServerContext*, ServerStream*) {
    return grpc::Status(grpc::StatusCode::INTERNAL, "broken");
  }});
  EmbedStream stream = Open(server);

  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kInternal, "broken"));
  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kInternal, "broken"));
  EXPECT_THAT(stream.Send(RequestFor(1)), StatusIs(absl::StatusCode::kAborted, HasSubstr("Receive returns why")));
}

TEST(EmbedStream, EndsWithInternalAtASenselessItem) {
  const ScriptedServer server({.embed_stream = [](grpc::ServerContext*, ServerStream* stream) {
    stream->Write(v1::EmbedStreamResponse());
    v1::EmbedStreamRequest request;
    while (stream->Read(&request)) {
    }
    return grpc::Status::OK;
  }});
  EmbedStream stream = Open(server);

  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kInternal, HasSubstr("makes no sense")));
  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kInternal, HasSubstr("makes no sense")));
}

TEST(EmbedStream, KeepsItsTimeout) {
  const ScriptedServer server({.embed_stream = Echo});
  EmbedStream stream = Open(server, {.timeout = absl::Milliseconds(200)});

  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kDeadlineExceeded, _));
}

TEST(EmbedStream, IsCancelledByItsStopSource) {
  const ScriptedServer server({.embed_stream = Echo});
  std::stop_source stop;
  EmbedStream stream = Open(server, {.cancel = stop.get_token()});

  stop.request_stop();

  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kCancelled, _));
}

TEST(EmbedStream, CancelFromAnotherThreadWakesTheReceiver) {
  const ScriptedServer server({.embed_stream = Echo});
  EmbedStream stream = Open(server);
  std::thread canceller([&stream] { stream.Cancel(); });

  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kCancelled, _));
  canceller.join();
}

TEST(EmbedStream, IsCancelledAtTheServerWhenItIsDestroyed) {
  absl::Notification ended;
  const ScriptedServer server({.embed_stream = [&ended](grpc::ServerContext* context, ServerStream* stream) {
    v1::EmbedStreamRequest request;
    while (stream->Read(&request)) {
    }
    if (context->IsCancelled()) ended.Notify();
    return grpc::Status::OK;
  }});
  {
    EmbedStream stream = Open(server);
    ASSERT_THAT(stream.Send(RequestFor(1)), IsOk());
  }

  EXPECT_TRUE(ended.WaitForNotificationWithTimeout(absl::Seconds(10)));
}

TEST(EmbedStream, MayBeMovedWhileItIsOpen) {
  const ScriptedServer server({.embed_stream = Echo});
  EmbedStream first = Open(server);
  ASSERT_THAT(first.Send(RequestFor(5)), IsOk());

  EmbedStream second = std::move(first);
  ASSERT_OK_AND_ASSIGN(const auto item, second.Receive());

  ASSERT_TRUE(item.has_value());
  EXPECT_THAT(*item->result->As<float>(), ElementsAre(5));
}

}  // namespace
}  // namespace embd::client
