// Tensors that come in blocks of rows: what the client asks for, puts together, refuses, and takes up again.

#include <algorithm>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

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
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Writer = grpc::ServerWriter<v1::EmbedChunksResponse>;

constexpr auto kInternal = absl::StatusCode::kInternal;
constexpr int kRows = 5;
constexpr int kDim = 2;

const EmbedRequest kRequest = {.model = "m", .ids = {0, 1, 2, 3, 4}, .batch_size = 1, .sequence_length = kRows};
const CallOptions kAlways = {.chunks = Chunks::kAlways};

// Element i of the tensor is i, plus an offset that tells tables apart.
v1::EmbedChunksResponse Block(int first_row, int row_count, float offset = 0) {
  v1::EmbedChunksResponse message;
  message.set_first_row(first_row);
  message.set_row_count(row_count);
  message.set_last(first_row + row_count == kRows);
  for (int i = 0; i < row_count * kDim; ++i) {
    const float value = offset + static_cast<float>(first_row * kDim + i);
    message.mutable_data()->append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return message;
}

v1::EmbedChunksResponse WithHeader(v1::EmbedChunksResponse message, const std::string& checksum = "c") {
  v1::EmbedChunksHeader& header = *message.mutable_header();
  header.set_model("m");
  header.set_model_version("7");
  header.set_generation(3);
  header.set_checksum(checksum);
  header.set_data_type(v1::DATA_TYPE_FLOAT32);
  for (const int extent : {1, kRows, kDim}) header.add_shape(extent);
  header.set_total_rows(kRows);
  header.set_total_bytes(kRows * kDim * 4);
  header.add_warnings("w");
  return message;
}

grpc::Status Refusal(absl::StatusCode code, const std::string& reason, const std::string& message) {
  return wire::ToGrpcStatus(ErrorWithReason(code, reason, message));
}

std::vector<float> Sent(float offset = 0) {
  std::vector<float> values;
  for (int i = 0; i < kRows * kDim; ++i) values.push_back(offset + static_cast<float>(i));
  return values;
}

// Answers call n (from 0) by what `answer` says, and keeps the requests.
class ChunkServer {
 public:
  using Answer = std::function<grpc::Status(int call, const v1::EmbedChunksRequest& request, Writer* writer)>;

  explicit ChunkServer(Answer answer)
      : server_({.embed_chunks = [this, answer = std::move(answer)](
                                     grpc::ServerContext*, const v1::EmbedChunksRequest& request, Writer* writer) {
          int call = 0;
          {
            const std::lock_guard lock(mutex_);
            call = static_cast<int>(requests_.size());
            requests_.push_back(request);
          }
          return answer(call, request, writer);
        }}) {}

  // Sends these and ends well.
  static ChunkServer Of(std::vector<v1::EmbedChunksResponse> messages) {
    return ChunkServer([messages = std::move(messages)](int, const v1::EmbedChunksRequest&, Writer* writer) {
      for (const v1::EmbedChunksResponse& message : messages) writer->Write(message);
      return grpc::Status::OK;
    });
  }

  [[nodiscard]] Client Connect(const ClientOptions& options = {}) const {
    return Client::Connect(server_.address(), options).value();
  }
  [[nodiscard]] std::vector<v1::EmbedChunksRequest> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  std::mutex mutex_;
  std::vector<v1::EmbedChunksRequest> requests_;
  ScriptedServer server_;
};

TEST(Chunks, BlocksBecomeTheTensorAndTheHeaderTellsOfIt) {
  const ChunkServer server = ChunkServer::Of({WithHeader(Block(0, 2)), Block(2, 2), Block(4, 1)});

  ASSERT_OK_AND_ASSIGN(const Embedding embedding, server.Connect().Embed(kRequest, kAlways));

  ASSERT_OK_AND_ASSIGN(const auto values, embedding.As<float>());
  EXPECT_THAT(values, ::testing::ElementsAreArray(Sent()));
  EXPECT_THAT(embedding.shape(), ElementsAre(1, kRows, kDim));
  EXPECT_EQ(embedding.info().model, "m");
  EXPECT_EQ(embedding.info().model_version, "7");
  EXPECT_EQ(embedding.info().generation, 3);
  EXPECT_EQ(embedding.info().checksum, "c");
  EXPECT_THAT(embedding.info().warnings, ElementsAre("w"));
}

TEST(Chunks, RequestGoesAlongWhole) {
  ChunkServer server = ChunkServer::Of({WithHeader(Block(0, kRows))});
  const std::vector<float> vectors(kRows * kDim, 1.5f);
  EmbedRequest request = {.model = "m", .token_type_ids = {1}};
  request.inputs_embeds = InputTensor::FromFloats(vectors, {1, kRows, kDim});

  ASSERT_THAT(server.Connect().Embed(kRequest, {.chunks = Chunks::kAlways, .max_chunk_bytes = 77}), IsOk());
  ASSERT_THAT(server.Connect().Embed(request, kAlways), IsOk());

  const auto received = server.requests();
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].ShortDebugString(),
            "request { model: \"m\" ids: 0 ids: 1 ids: 2 ids: 3 ids: 4 batch_size: 1 sequence_length: 5 "
            "part: PART_COMPOSED output_type: DATA_TYPE_FLOAT32 } max_chunk_bytes: 77");
  EXPECT_EQ(received[1].request().inputs_embeds().data().size(), vectors.size() * sizeof(float));
  EXPECT_THAT(received[1].request().token_type_ids(), ElementsAre(1));
}

TEST(Chunks, MemoryOfTheCallerIsFilled) {
  const ChunkServer server = ChunkServer::Of({WithHeader(Block(0, 1)), Block(1, 4)});
  std::vector<float> out(kRows * kDim, -1);

  ASSERT_THAT(server.Connect().EmbedInto(kRequest, out, kAlways), IsOk());

  EXPECT_EQ(out, Sent());
}

TEST(Chunks, MemoryOfAnotherSizeIsLeftAloneAndEndsTheCall) {
  const ChunkServer server = ChunkServer::Of({WithHeader(Block(0, 1)), Block(1, 4)});
  std::vector<float> out(kRows * kDim + 1, -1);

  EXPECT_THAT(server.Connect().EmbedInto(kRequest, out, kAlways),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 44 bytes, but the result has 40")));
  EXPECT_THAT(out, Each(-1));
}

TEST(Chunks, RefusalKeepsItsReasonAndLeavesMemoryAlone) {
  ChunkServer server([](int, const v1::EmbedChunksRequest&, Writer*) {
    return Refusal(absl::StatusCode::kInvalidArgument, "ID_OUT_OF_RANGE", "ids[0][1] = 5 is outside [0, 5)");
  });
  std::vector<float> out(kRows * kDim, -1);

  EXPECT_THAT(server.Connect().EmbedInto(kRequest, out, kAlways),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, "ids[0][1] = 5 is outside [0, 5)"),
                    ReasonIs("ID_OUT_OF_RANGE")));
  EXPECT_THAT(out, Each(-1));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Chunks, EmptyTensorIsOneEmptyBlock) {
  v1::EmbedChunksResponse message;
  message.mutable_header()->set_data_type(v1::DATA_TYPE_FLOAT32);
  for (const int extent : {0, kRows, kDim}) message.mutable_header()->add_shape(extent);
  message.set_last(true);
  const ChunkServer server = ChunkServer::Of({message});

  ASSERT_OK_AND_ASSIGN(const Embedding embedding, server.Connect().Embed(kRequest, kAlways));

  EXPECT_THAT(embedding.shape(), ElementsAre(0, kRows, kDim));
  EXPECT_TRUE(embedding.bytes().empty());
}

TEST(Chunks, ReplyThatMakesNoSenseIsInternal) {
  const auto changed = [](v1::EmbedChunksResponse message, void (*change)(v1::EmbedChunksResponse*)) {
    change(&message);
    return message;
  };
  const std::vector<std::vector<v1::EmbedChunksResponse>> replies = {
      {},                                                   // nothing at all
      {Block(0, kRows)},                                    // no header
      {WithHeader(Block(0, 2)), WithHeader(Block(2, 3))},   // two
      {WithHeader(Block(0, 2))},                            // too short
      {WithHeader(Block(0, 2)), Block(3, 2)},               // a gap
      {WithHeader(Block(0, 2)), Block(0, 2), Block(2, 3)},  // a block twice
      {WithHeader(Block(2, 3)), Block(0, 2)},               // in another order
      {WithHeader(Block(0, 2)), Block(2, 4)},               // too many rows
      {WithHeader(Block(0, kRows)), Block(kRows, 0)},       // a message behind the last
      {WithHeader(Block(0, 2)), Block(2, 0), Block(2, 3)},  // a block of no rows
      {WithHeader(Block(0, 2)), changed(Block(2, 3), [](auto* m) { m->set_last(false); })},
      {changed(WithHeader(Block(0, 2)), [](auto* m) { m->set_last(true); })},
      {WithHeader(Block(0, 2)), changed(Block(2, 3), [](auto* m) { m->mutable_data()->pop_back(); })},
      {WithHeader(Block(0, 2)), changed(Block(2, 3), [](auto* m) { m->mutable_data()->push_back('x'); })},
      {changed(WithHeader(Block(0, kRows)), [](auto* m) { m->mutable_header()->set_total_rows(4); })},
  };
  for (std::size_t i = 0; i < replies.size(); ++i) {
    SCOPED_TRACE(i);
    ChunkServer server = ChunkServer::Of(replies[i]);

    EXPECT_THAT(server.Connect().Embed(kRequest, kAlways), StatusIs(kInternal, HasSubstr("makes no sense")));
    EXPECT_EQ(server.requests().size(), 1u) << "nonsense is not asked for again";
  }
}

TEST(Chunks, CallThatBreaksOffGoesOnBehindTheRowsThatCame) {
  ChunkServer server([](int call, const v1::EmbedChunksRequest&, Writer* writer) -> grpc::Status {
    if (call == 0) {
      writer->Write(WithHeader(Block(0, 2)));
      return {grpc::StatusCode::UNAVAILABLE, "gone"};
    }
    if (call == 1) {
      writer->Write(WithHeader(Block(2, 1)));
      writer->Write(Block(3, 1));
      return {grpc::StatusCode::UNAVAILABLE, "gone again"};
    }
    writer->Write(WithHeader(Block(4, 1)));
    return grpc::Status::OK;
  });
  std::vector<float> out(kRows * kDim, -1);

  ASSERT_THAT(server.Connect().EmbedInto(kRequest, out, kAlways), IsOk());

  EXPECT_EQ(out, Sent());
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 3u);
  EXPECT_EQ(requests[0].first_row(), 0);
  EXPECT_EQ(requests[0].request().if_checksum(), "");
  EXPECT_EQ(requests[1].first_row(), 2);
  EXPECT_EQ(requests[1].request().if_checksum(), "c");
  EXPECT_EQ(requests[2].first_row(), 4);
}

TEST(Chunks, CallThatFindsNoRoomMidwayGoesOn) {
  ChunkServer server([](int call, const v1::EmbedChunksRequest&, Writer* writer) -> grpc::Status {
    if (call > 0) return writer->Write(WithHeader(Block(3, 2))), grpc::Status::OK;
    writer->Write(WithHeader(Block(0, 3)));
    absl::Status status = ErrorWithReason(absl::StatusCode::kResourceExhausted, "OVERLOADED", "too much in flight");
    wire::SetRetryAfterMs(&status, 1);
    return wire::ToGrpcStatus(status);
  });

  ASSERT_OK_AND_ASSIGN(const Embedding embedding, server.Connect().Embed(kRequest, kAlways));

  EXPECT_THAT(*embedding.As<float>(), ::testing::ElementsAreArray(Sent()));
}

TEST(Chunks, LossOfTheEndAloneIsNoLoss) {
  ChunkServer server([](int, const v1::EmbedChunksRequest&, Writer* writer) -> grpc::Status {
    writer->Write(WithHeader(Block(0, kRows)));
    return {grpc::StatusCode::UNAVAILABLE, "gone"};
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, kAlways), IsOk());
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Chunks, OtherFailuresMidwayEndTheCall) {
  ChunkServer server([](int, const v1::EmbedChunksRequest&, Writer* writer) {
    writer->Write(WithHeader(Block(0, 2)));
    return Refusal(absl::StatusCode::kFailedPrecondition, "TABLE_DAMAGED", "a file was cut short");
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, kAlways), ReasonIs("TABLE_DAMAGED"));
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST(Chunks, CallIsTakenUpNoMoreOftenThanTheClientAllows) {
  for (const int max_attempts : {0, 1, 3}) {
    SCOPED_TRACE(max_attempts);
    ChunkServer server([](int, const v1::EmbedChunksRequest& request, Writer* writer) -> grpc::Status {
      writer->Write(WithHeader(Block(static_cast<int>(request.first_row()), 1)));
      return {grpc::StatusCode::UNAVAILABLE, "gone"};
    });

    EXPECT_THAT(server.Connect({.max_attempts = max_attempts}).Embed(kRequest, kAlways),
                StatusIs(absl::StatusCode::kUnavailable, "gone"));
    EXPECT_EQ(server.requests().size(), static_cast<std::size_t>(std::max(max_attempts, 1)));
  }
}

// Breaks off behind two rows; from then on there are tables "d", whose elements are 100 more.
grpc::Status AnswerWithChangedTables(int call, const v1::EmbedChunksRequest& request, Writer* writer) {
  if (call == 0) {
    writer->Write(WithHeader(Block(0, 2)));
    return {grpc::StatusCode::UNAVAILABLE, "gone"};
  }
  if (!request.request().if_checksum().empty()) {
    return Refusal(absl::StatusCode::kFailedPrecondition, "TABLES_CHANGED", "the checksum is d");
  }
  EXPECT_EQ(request.first_row(), 0);
  writer->Write(WithHeader(Block(0, 3, 100), "d"));
  writer->Write(Block(3, 2, 100));
  return grpc::Status::OK;
}

TEST(Chunks, CallThatFindsOtherTablesBeginsAgain) {
  ChunkServer server(AnswerWithChangedTables);

  ASSERT_OK_AND_ASSIGN(const Embedding embedding, server.Connect().Embed(kRequest, kAlways));

  EXPECT_THAT(*embedding.As<float>(), ::testing::ElementsAreArray(Sent(100)));
  EXPECT_EQ(embedding.info().checksum, "d");
  EXPECT_EQ(server.requests().size(), 3u);
}

TEST(Chunks, TablesThatKeepChangingEndTheCall) {
  ChunkServer server([](int, const v1::EmbedChunksRequest& request, Writer* writer) -> grpc::Status {
    if (!request.request().if_checksum().empty()) {
      return Refusal(absl::StatusCode::kFailedPrecondition, "TABLES_CHANGED", "changed");
    }
    writer->Write(WithHeader(Block(0, 2)));
    return {grpc::StatusCode::UNAVAILABLE, "gone"};
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, kAlways), ReasonIs("TABLES_CHANGED"));
  EXPECT_EQ(server.requests().size(), 4u);
}

TEST(Chunks, TablesOfAnotherShapeEndTheCall) {
  ChunkServer server([](int call, const v1::EmbedChunksRequest& request, Writer* writer) -> grpc::Status {
    if (call < 2) return AnswerWithChangedTables(call, request, writer);
    v1::EmbedChunksResponse message = WithHeader(Block(0, kRows), "d");
    message.mutable_header()->set_shape(2, 1);
    message.mutable_header()->set_total_bytes(kRows * 4);
    message.mutable_data()->resize(kRows * 4);
    writer->Write(message);
    return grpc::Status::OK;
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, kAlways),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("another shape now")),
                    ReasonIs("TABLES_CHANGED")));
}

TEST(Chunks, ServerThatIgnoresTheChecksumIsFoundOut) {
  ChunkServer server([](int call, const v1::EmbedChunksRequest&, Writer* writer) -> grpc::Status {
    if (call > 0) return writer->Write(WithHeader(Block(2, 3, 100), "d")), grpc::Status::OK;
    writer->Write(WithHeader(Block(0, 2)));
    return {grpc::StatusCode::UNAVAILABLE, "gone"};
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, kAlways), StatusIs(kInternal, HasSubstr("other tables")));
}

// The pauses between the calls alone are longer.
TEST(Chunks, DeadlineHoldsForAllCallsTogether) {
  ChunkServer server([](int, const v1::EmbedChunksRequest& request, Writer* writer) -> grpc::Status {
    writer->Write(WithHeader(Block(static_cast<int>(request.first_row()), 1)));
    return {grpc::StatusCode::UNAVAILABLE, "gone"};
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, {.timeout = absl::Milliseconds(40), .chunks = Chunks::kAlways}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
}

TEST(Chunks, StopCancelsACallThatWaitsForItsNextAttempt) {
  std::stop_source stop;
  ChunkServer server([&stop](int, const v1::EmbedChunksRequest&, Writer* writer) -> grpc::Status {
    writer->Write(WithHeader(Block(0, 2)));
    stop.request_stop();
    return {grpc::StatusCode::UNAVAILABLE, "gone"};
  });

  EXPECT_THAT(server.Connect().Embed(kRequest, {.cancel = stop.get_token(), .chunks = Chunks::kAlways}),
              StatusIs(absl::StatusCode::kCancelled, ::testing::_));
  EXPECT_EQ(server.requests().size(), 1u);
}

// Pieces of a tensor of floats, put together.
struct Pieces {
  Transport::Visit Visit() {
    return [this](const EmbedInfo& info, std::span<const std::byte> piece) {
      EXPECT_FALSE(piece.empty());
      EXPECT_THAT(info.shape, ElementsAre(1, kRows, kDim));
      bytes.insert(bytes.end(), piece.begin(), piece.end());
      return absl::OkStatus();
    };
  }
  [[nodiscard]] std::vector<float> Floats() const {
    std::vector<float> values(bytes.size() / sizeof(float));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<std::byte> bytes = {};
};

TEST(EmbedSlices, ShowsTheTensorInOrderByEitherWay) {
  const ScriptedServer server({.embed =
                                   [](grpc::ServerContext*, const v1::EmbedRequest&, v1::EmbedResponse* response) {
                                     SetTensor({1, kRows, kDim}, Sent(), response);
                                     return grpc::Status::OK;
                                   },
                               .embed_chunks =
                                   [](grpc::ServerContext*, const v1::EmbedChunksRequest&, Writer* writer) {
                                     writer->Write(WithHeader(Block(0, 3)));
                                     writer->Write(Block(3, 2));
                                     return grpc::Status::OK;
                                   }});
  for (const Chunks chunks : {Chunks::kNever, Chunks::kAlways}) {
    Pieces pieces;
    ASSERT_OK_AND_ASSIGN(const EmbedInfo info,
                         Client::Connect(server.address())->EmbedSlices(kRequest, pieces.Visit(), {.chunks = chunks}));
    EXPECT_EQ(pieces.Floats(), Sent());
    EXPECT_THAT(info.shape, ElementsAre(1, kRows, kDim));
  }
}

TEST(EmbedSlices, EndsWithWhatTheVisitorSays) {
  ChunkServer server = ChunkServer::Of({WithHeader(Block(0, 2)), Block(2, 2), Block(4, 1)});

  EXPECT_THAT(server.Connect().EmbedSlices(
                  kRequest, [](const EmbedInfo&, std::span<const std::byte>) { return absl::UnavailableError("mine"); },
                  kAlways),
              StatusIs(absl::StatusCode::kUnavailable, "mine"));
  EXPECT_EQ(server.requests().size(), 1u) << "what the visitor says is no broken connection";
}

TEST(EmbedSlices, GoesOnBehindWhatWasShown) {
  ChunkServer server([](int call, const v1::EmbedChunksRequest&, Writer* writer) -> grpc::Status {
    if (call > 0) return writer->Write(WithHeader(Block(2, 3))), grpc::Status::OK;
    writer->Write(WithHeader(Block(0, 2)));
    return {grpc::StatusCode::UNAVAILABLE, "gone"};
  });
  Pieces pieces;

  ASSERT_THAT(server.Connect().EmbedSlices(kRequest, pieces.Visit(), kAlways), IsOk());

  EXPECT_EQ(pieces.Floats(), Sent());
}

TEST(EmbedSlices, DoesNotShowRowsOfOtherTables) {
  ChunkServer server(AnswerWithChangedTables);
  Pieces pieces;

  EXPECT_THAT(server.Connect().EmbedSlices(kRequest, pieces.Visit(), kAlways), ReasonIs("TABLES_CHANGED"));

  EXPECT_EQ(pieces.bytes.size(), 2u * kDim * sizeof(float));
}

}  // namespace
}  // namespace embd::client
