#include "embd/client/fake_transport.h"

#include <limits>
#include <memory>
#include <vector>

#include "embd/client/client.h"
#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FakeTransportTest : public ::testing::Test {
 protected:
  FakeTransportTest() {
    fake_->AddModel({.name = "learned",
                     .embedding_dim = 2,
                     .token = {0, 1, 10, 11, 20, 21},
                     .position = {100, 200, 300, 400},
                     .vocabulary = {"king", "queen", "a"}});
    fake_->AddModel({.name = "bare", .embedding_dim = 1, .token = {7, 8}, .version = "3"});
  }

  static EmbedRequest TwoCells(std::vector<std::int64_t> ids) {
    return {.model = "learned", .ids = std::move(ids), .batch_size = 1, .sequence_length = 2};
  }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
  Client client_ = Client(fake_);
};

TEST_F(FakeTransportTest, AddsPositionsToTokens) {
  ASSERT_OK_AND_ASSIGN(const Embedding embedding, client_.Embed(TwoCells({2, 0})));

  EXPECT_THAT(*embedding.As<float>(), ElementsAre(120, 221, 300, 401));
  EXPECT_THAT(embedding.shape(), ElementsAre(1, 2, 2));
  EXPECT_EQ(embedding.info().model, "learned");
}

TEST_F(FakeTransportTest, MapsNoSharedMemory) {
  EmbedRequest request = TwoCells({2, 0});
  request.output_target = SharedMemoryTarget{.region = "r", .offset = 0, .byte_size = 16};

  EXPECT_THAT(client_.EmbedToRegion(request), ReasonIs("REGIONS_OFF"));
  EXPECT_THAT(client_.RegisterRegion({.name = "r", .path = "/dev/shm/r", .byte_size = 16}), ReasonIs("REGIONS_OFF"));
  EXPECT_THAT(client_.UnregisterRegion("r"), ReasonIs("REGIONS_OFF"));
  EXPECT_THAT(client_.ListRegions(), ReasonIs("REGIONS_OFF"));
}

TEST_F(FakeTransportTest, AnswersPartsAlone) {
  EmbedRequest request = TwoCells({2, 0});
  request.part = Part::kToken;
  ASSERT_OK_AND_ASSIGN(const Embedding token, client_.Embed(request));
  request.part = Part::kPosition;
  request.ids.clear();
  ASSERT_OK_AND_ASSIGN(const Embedding position, client_.Embed(request));

  EXPECT_THAT(*token.As<float>(), ElementsAre(20, 21, 0, 1));
  EXPECT_THAT(*position.As<float>(), ElementsAre(100, 200, 300, 400));
}

TEST_F(FakeTransportTest, TakesPositions) {
  EmbedRequest by_ids = TwoCells({0, 0});
  by_ids.position_ids = {1, 0};
  EmbedRequest by_offset = {
      .model = "learned", .ids = {0}, .batch_size = 1, .sequence_length = 1, .position_offsets = {1}};

  ASSERT_OK_AND_ASSIGN(const Embedding ids, client_.Embed(by_ids));
  ASSERT_OK_AND_ASSIGN(const Embedding offset, client_.Embed(by_offset));

  EXPECT_THAT(*ids.As<float>(), ElementsAre(300, 401, 100, 201));
  EXPECT_THAT(*offset.As<float>(), ElementsAre(300, 401));
}

TEST_F(FakeTransportTest, RefusesAsAServerDoes) {
  EmbedRequest long_one = {.model = "learned", .ids = {0, 0, 0}, .batch_size = 1, .sequence_length = 3};
  EmbedRequest both = TwoCells({0, 0});
  both.position_ids = {0, 1};
  both.position_offsets = {0};
  EmbedRequest outside = TwoCells({0, 0});
  outside.position_ids = {0, 2};

  EXPECT_THAT(client_.Embed(TwoCells({0, 3})), ReasonIs("ID_OUT_OF_RANGE"));
  EXPECT_THAT(client_.Embed(TwoCells({0})), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(long_one), ReasonIs("SEQUENCE_TOO_LONG"));
  EXPECT_THAT(client_.Embed(both), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.Embed(outside), ReasonIs("POSITION_OUT_OF_RANGE"));
  EXPECT_THAT(client_.Embed({.model = "none"}), ReasonIs("MODEL_NOT_FOUND"));
  EXPECT_THAT(client_.Embed({.model = "bare", .model_version = "1"}), ReasonIs("VERSION_NOT_FOUND"));
  EXPECT_THAT(client_.Embed({.model = "bare", .batch_size = 1, .sequence_length = 1, .part = Part::kPosition}),
              ReasonIs("NO_POSITION_TABLE"));
}

TEST_F(FakeTransportTest, RefusesAnOffsetPastTheTableAsAPositionOutOfRange) {
  EmbedRequest past = TwoCells({0, 0});
  past.position_offsets = {1};
  EmbedRequest extreme = TwoCells({0, 0});
  extreme.position_offsets = {std::numeric_limits<std::int64_t>::max()};
  EmbedRequest unread = extreme;
  unread.part = Part::kToken;
  EmbedRequest far = unread;
  far.position_offsets = {std::int64_t{1} << 62};

  EXPECT_THAT(client_.Embed(past), ReasonIs("POSITION_OUT_OF_RANGE"));
  EXPECT_THAT(client_.Embed(extreme), ReasonIs("POSITION_OUT_OF_RANGE"));
  EXPECT_THAT(client_.Embed(unread), ReasonIs("POSITION_OUT_OF_RANGE"));
  EXPECT_THAT(client_.Embed(far), IsOk());
}

TEST_F(FakeTransportTest, ChecksPositionsBeforeIds) {
  EmbedRequest request = TwoCells({9, 9});
  request.position_offsets = {-1};

  EXPECT_THAT(client_.Embed(request), ReasonIs("POSITION_OUT_OF_RANGE"));
}

TEST_F(FakeTransportTest, RefusesTypesThatAreNotServed) {
  EmbedRequest int8 = TwoCells({0, 1});
  int8.output_type = DataType::kInt8;
  EmbedRequest unknown_type = TwoCells({0, 1});
  unknown_type.output_type = static_cast<DataType>(99);

  EXPECT_THAT(client_.Embed(int8), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.Embed(unknown_type), ReasonIs("UNKNOWN_ENUM_VALUE"));
}

TEST_F(FakeTransportTest, RefusesTablesThatAreNotThere) {
  const auto similarity = [this](int table) {
    return client_.NeighbourSimilarity({.model = "learned", .table = static_cast<TableKind>(table)});
  };

  EXPECT_THAT(similarity(4), ReasonIs("NO_SUCH_TABLE"));
  EXPECT_THAT(similarity(9), ReasonIs("UNKNOWN_ENUM_VALUE"));
  EXPECT_THAT(client_.NeighbourSimilarity({.model = "learned", .first_row = std::numeric_limits<std::int64_t>::min()}),
              ReasonIs("INVALID_OPTION"));
}

TEST_F(FakeTransportTest, KeepsTheLimitsOfItsServerInfo) {
  fake_->SetServerInfo({.limits = {.max_response_bytes = 15, .max_batch_size = 2}});
  EmbedRequest halves = TwoCells({0, 1});
  halves.output_type = DataType::kFloat16;

  EXPECT_THAT(client_.Embed(TwoCells({0, 1})), ReasonIs("RESPONSE_TOO_LARGE"));
  EXPECT_THAT(client_.Embed(halves), IsOk());
  EXPECT_THAT(client_.Embed({.model = "bare", .ids = {0, 0, 0}, .batch_size = 3, .sequence_length = 1}),
              ReasonIs("REQUEST_TOO_LARGE"));
}

TEST_F(FakeTransportTest, NarrowsToTheNearestWithTiesToEven) {
  fake_->AddModel({.name = "edges",
                   .embedding_dim = 9,
                   .token = {1, -2, 65504, 65520, 1 + 0x1p-11F, 1 + 0x3p-11F, 2 - 0x1p-12F, 0x1p-24F, 0x1p-25F}});
  EmbedRequest request = {.model = "edges", .ids = {0}, .batch_size = 1, .sequence_length = 1};
  request.output_type = DataType::kFloat16;
  ASSERT_OK_AND_ASSIGN(const Embedding half, client_.Embed(request));
  request.output_type = DataType::kBfloat16;
  ASSERT_OK_AND_ASSIGN(const Embedding brain, client_.Embed(request));

  EXPECT_EQ(half.data_type(), DataType::kFloat16);
  EXPECT_THAT(*half.As<std::uint16_t>(),
              ElementsAre(0x3C00, 0xC000, 0x7BFF, 0x7C00, 0x3C00, 0x3C02, 0x4000, 0x0001, 0x0000));
  EXPECT_THAT(*brain.As<std::uint16_t>(),
              ElementsAre(0x3F80, 0xC000, 0x4780, 0x4780, 0x3F80, 0x3F80, 0x4000, 0x3380, 0x3300));
}

TEST_F(FakeTransportTest, FailsTheNextCallsAsTold) {
  fake_->FailNext(ErrorWithReason(absl::StatusCode::kUnavailable, "DRAINING", "going away"), 2);

  EXPECT_THAT(client_.ListModels(), StatusIs(absl::StatusCode::kUnavailable, "going away"));
  EXPECT_THAT(client_.Embed(TwoCells({0, 1})), ReasonIs("DRAINING"));
  EXPECT_THAT(client_.Embed(TwoCells({0, 1})), IsOk());
}

TEST_F(FakeTransportTest, RecordsWhatItWasAsked) {
  ASSERT_THAT(client_.Embed(TwoCells({0, 1})), IsOk());
  ASSERT_THAT(client_.EmbedAsync(TwoCells({2, 2})).get(), IsOk());

  EXPECT_THAT(fake_->embed_requests(), SizeIs(2));
  EXPECT_THAT(fake_->embed_requests().at(1).ids, ElementsAre(2, 2));
  EXPECT_EQ(fake_->calls("Embed"), 2);
  EXPECT_EQ(fake_->calls("ListModels"), 0);
}

TEST_F(FakeTransportTest, IsCancelledByAStop) {
  std::stop_source stop;
  stop.request_stop();

  EXPECT_THAT(client_.Embed(TwoCells({0, 1}), {.cancel = stop.get_token()}), StatusIs(absl::StatusCode::kCancelled, _));
}

TEST_F(FakeTransportTest, StreamsAnswersInOrder) {
  ASSERT_OK_AND_ASSIGN(EmbedStream stream, client_.OpenStream());
  ASSERT_THAT(stream.Send(TwoCells({0, 9}), "bad"), IsOk());
  ASSERT_THAT(stream.Send(TwoCells({0, 1}), "good"), IsOk());
  ASSERT_THAT(stream.CloseSending(), IsOk());

  ASSERT_OK_AND_ASSIGN(const auto bad, stream.Receive());
  ASSERT_OK_AND_ASSIGN(const auto good, stream.Receive());
  ASSERT_OK_AND_ASSIGN(const auto end, stream.Receive());

  EXPECT_THAT(bad->result, ReasonIs("ID_OUT_OF_RANGE"));
  EXPECT_EQ(good->request_id, "good");
  EXPECT_EQ(good->index, 1);
  EXPECT_THAT(good->result, IsOk());
  EXPECT_FALSE(end.has_value());
}

TEST_F(FakeTransportTest, CancelledStreamsEnd) {
  ASSERT_OK_AND_ASSIGN(EmbedStream stream, client_.OpenStream());

  stream.Cancel();

  EXPECT_THAT(stream.Receive(), StatusIs(absl::StatusCode::kCancelled, _));
  EXPECT_THAT(stream.Send(TwoCells({0, 1})), StatusIs(absl::StatusCode::kAborted, _));
}

TEST_F(FakeTransportTest, ListsAndDescribesItsModels) {
  ASSERT_OK_AND_ASSIGN(const auto models, client_.ListModels());
  ASSERT_OK_AND_ASSIGN(const ModelDescription learned, client_.DescribeModel({.model = "learned"}));

  ASSERT_THAT(models, SizeIs(2));
  EXPECT_EQ(models[0].name, "bare");
  EXPECT_EQ(models[0].version, "3");
  EXPECT_EQ(models[0].max_context_length, std::nullopt);
  EXPECT_EQ(models[0].byte_size, 8);
  EXPECT_EQ(learned.position_encoding, PositionEncoding::kLearned);
  EXPECT_EQ(learned.vocab_size, 3);
  EXPECT_EQ(learned.max_context_length, 2);
  EXPECT_EQ(learned.parameter_count, 10);
  EXPECT_EQ(learned.vocabulary_words, 3);
  EXPECT_THAT(learned.tables, SizeIs(2));
}

TEST_F(FakeTransportTest, LooksTokensUp) {
  ASSERT_OK_AND_ASSIGN(const TokenIds tokens, client_.LookUpTokens({.model = "learned", .tokens = {"queen", "king"}}));

  EXPECT_THAT(tokens.ids, ElementsAre(1, 0));
  EXPECT_THAT(client_.LookUpTokens({.model = "learned", .tokens = {"knave"}}), ReasonIs("UNKNOWN_TOKEN"));
  EXPECT_THAT(client_.LookUpTokens({.model = "bare", .tokens = {"king"}}), ReasonIs("NO_VOCABULARY"));
}

TEST_F(FakeTransportTest, ComparesNeighbours) {
  fake_->AddModel({.name = "turn", .embedding_dim = 2, .token = {0, 0}, .position = {1, 0, 0, 1, -1, 0, 0, 0}});

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, client_.NeighbourSimilarity({.model = "turn", .max_offset = 2}));

  EXPECT_EQ(curve.rows, 4);
  EXPECT_EQ(curve.zero_rows, 1);
  EXPECT_THAT(curve.mean_cosine, ElementsAre(DoubleNear(0, 1e-12), DoubleNear(-0.5, 1e-12)));
  EXPECT_THAT(curve.min_cosine, ElementsAre(DoubleNear(0, 1e-12), DoubleNear(-1, 1e-12)));
  EXPECT_THAT(curve.closed_form, IsEmpty());
  EXPECT_EQ(curve.monotone_steps, 1);
  EXPECT_THAT(client_.NeighbourSimilarity({.model = "turn", .max_offset = 4}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.NeighbourSimilarity({.model = "bare"}), ReasonIs("NO_POSITION_TABLE"));
}

TEST_F(FakeTransportTest, IsAsHealthyAsTold) {
  fake_->SetHealth("bare", HealthStatus::kNotServing);

  ASSERT_OK_AND_ASSIGN(const HealthStatus whole, client_.CheckHealth());
  ASSERT_OK_AND_ASSIGN(const HealthStatus bare, client_.CheckHealth("bare"));

  EXPECT_EQ(whole, HealthStatus::kServing);
  EXPECT_EQ(bare, HealthStatus::kNotServing);
  EXPECT_THAT(client_.CheckHealth("nothing"), StatusIs(absl::StatusCode::kNotFound, _));
}

TEST_F(FakeTransportTest, TellsTheServerInfoItWasGiven) {
  fake_->SetServerInfo({.version = "9"});

  ASSERT_OK_AND_ASSIGN(const ServerInfo info, client_.GetServerInfo());

  EXPECT_EQ(info.version, "9");
}

}  // namespace
}  // namespace embd::client
