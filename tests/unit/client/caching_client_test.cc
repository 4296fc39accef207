#include "embd/client/caching_client.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/client/caching_client_fixture.h"

namespace embd::client {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(CachingClientTest, TensorsAreThoseOfPlainCalls) {
  const CachingClient caching = Caching();
  std::mt19937 random(2);
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16, DataType::kUnspecified}) {
    for (const Part part : {Part::kComposed, Part::kUnspecified, Part::kToken}) {
      for (int i = 0; i < 10; ++i) {
        EmbedRequest request = RandomRequest(random);
        request.output_type = type;
        request.part = part;
        ExpectPlain(caching, request);
      }
    }
  }
  EXPECT_EQ(caching.statistics().plain_calls, 0);
  EXPECT_EQ(caching.statistics().composed_calls, 120);
}

TEST_F(CachingClientTest, PositionsAreThoseOfPlainCalls) {
  const CachingClient caching = Caching();
  EmbedRequest request = Request({1, 2, 3, 4, 5, 6}, 2, 3);
  for (const std::vector<std::int64_t>& offsets : {std::vector<std::int64_t>{7}, {3, 190}, {0, 197}}) {
    request.position_offsets = offsets;
    ExpectPlain(caching, request);
  }
  request.position_offsets.clear();
  for (const std::vector<std::int64_t>& positions : {std::vector<std::int64_t>{9, 0, 9}, {1, 199, 3, 0, 5, 5}}) {
    request.position_ids = positions;
    ExpectPlain(caching, request);
  }
  EXPECT_EQ(caching.statistics().plain_calls, 0);
}

TEST_F(CachingClientTest, RowOffsetOfTheTableIsTheServersBusiness) {
  FakeModel model = Model();
  model.row_offset = 2;
  fake_->AddModel(model);
  const CachingClient caching = Caching();

  EmbedRequest request = Request({1, 2, 3}, 1, 3);
  ExpectPlain(caching, request);
  request.position_ids = {0, 197, 5};
  ExpectPlain(caching, request);

  EXPECT_EQ(caching.statistics().plain_calls, 0);
}

TEST_F(CachingClientTest, ModelWithoutPositionsHasTokenRowsAlone) {
  FakeModel model = Model();
  model.position.clear();
  fake_->AddModel(model);
  const CachingClient caching = Caching();

  EmbedRequest request = Request({1, 2, 1, 2}, 2, 2);
  request.position_offsets = {100'000};
  ExpectPlain(caching, request);

  EXPECT_EQ(caching.statistics().plain_calls, 0);
}

TEST_F(CachingClientTest, EmptyBatchIsAnEmptyTensor) {
  const CachingClient caching = Caching();

  ExpectPlain(caching, Request({}, 0, 3));

  EXPECT_EQ(caching.statistics().plain_calls, 0);
}

TEST_F(CachingClientTest, MissingRowsAreFetchedOnceEach) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3, 5, 5}, 1, 4)), IsOk());
  Asked();

  ASSERT_THAT(caching.Embed(Request({7, 3, 7, 8}, 1, 4)), IsOk());

  const std::vector<EmbedRequest> asked = Asked();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_THAT(asked[0].ids, ElementsAre(7, 8));
  EXPECT_EQ(asked[0].part, Part::kToken);
  EXPECT_EQ(asked[0].if_checksum, "tables 1");
}

TEST_F(CachingClientTest, CallWhoseRowsAreAllThereAsksNothing) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  Asked();
  fake_->FailNext(absl::UnavailableError("gone"), 1000);

  EXPECT_THAT(caching.Embed(Request({3, 3, 5, 5}, 2, 2)), IsOk());

  EXPECT_THAT(Asked(), IsEmpty());
}

TEST_F(CachingClientTest, PositionsAreFetchedInStepsUpToTheLargestAskedFor) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  EXPECT_EQ(caching.statistics().position_rows_fetched, 64);
  EmbedRequest request = Request({5, 3}, 1, 2);
  request.position_offsets = {62};
  ASSERT_THAT(caching.Embed(request), IsOk());
  EXPECT_EQ(caching.statistics().position_rows_fetched, 64);

  request.position_offsets = {63};
  ASSERT_THAT(caching.Embed(request), IsOk());
  EXPECT_EQ(caching.statistics().position_rows_fetched, 128);
  request.position_offsets = {198};
  ASSERT_THAT(caching.Embed(request), IsOk());

  EXPECT_EQ(caching.statistics().position_rows_fetched, kL);
}

TEST_F(CachingClientTest, TokenPartNeedsNoPositions) {
  const CachingClient caching = Caching();
  EmbedRequest request = Request({5, 3}, 1, 2);
  request.part = Part::kToken;

  ExpectPlain(caching, request);

  EXPECT_EQ(caching.statistics().position_rows_fetched, 0);
}

TEST_F(CachingClientTest, StatisticsCountCellsRowsAndBytes) {
  const CachingClient caching = Caching();

  ASSERT_THAT(caching.Embed(Request({5, 3, 5, 5}, 1, 4)), IsOk());
  ASSERT_THAT(caching.Embed(Request({5, 4}, 1, 2)), IsOk());

  const CachingStatistics statistics = caching.statistics();
  EXPECT_EQ(statistics.composed_calls, 2);
  EXPECT_EQ(statistics.hits, 1);
  EXPECT_EQ(statistics.misses, 5);
  EXPECT_EQ(statistics.rows_fetched, 3);
  EXPECT_EQ(statistics.rows_kept, 3);
  EXPECT_EQ(statistics.bytes_fetched, (3 + 64) * kD * 4);
  EXPECT_EQ(statistics.bytes_delivered, 6 * kD * 4);
}

TEST_F(CachingClientTest, EmbedIntoFillsTheGivenMemory) {
  const CachingClient caching = Caching();
  const EmbedRequest request = Request({5, 3}, 1, 2);
  std::vector<float> out(2 * kD);

  const auto info = caching.EmbedInto(request, std::span<float>(out));

  ASSERT_THAT(info, IsOk());
  EXPECT_THAT(info->shape, ElementsAre(1, 2, kD));
  ASSERT_OK_AND_ASSIGN(const Embedding plain, client_.Embed(request));
  EXPECT_EQ(std::memcmp(out.data(), plain.bytes().data(), plain.bytes().size()), 0);
}

// Models that need more than a token and a position row.
TEST_F(CachingClientTest, ModelsWithMoreGoThePlainWayAndSaySo) {
  FakeModel with_types = Model();
  with_types.token_type = Drawn(2, 9);
  FakeModel with_norm = Model();
  with_norm.layer_norm_weight = with_norm.layer_norm_bias = Drawn(1, 9);
  FakeModel with_padding = Model();
  with_padding.numbering = PositionNumbering::kPadding;
  with_padding.padding_idx = 1;
  FakeModel with_mask = Model();
  with_mask.numbering = PositionNumbering::kMask;
  const std::pair<FakeModel, const char*> models[] = {{with_types, "the model adds token types"},
                                                      {with_norm, "the model has a LayerNorm"},
                                                      {with_padding, "the model numbers positions by ids or mask"},
                                                      {with_mask, "the model numbers positions by ids or mask"}};
  for (const auto& [model, reason] : models) {
    fake_->AddModel(model);
    const CachingClient caching = Caching();

    ExpectPlain(caching, Request({1, 2, 1, 2}, 2, 2));

    EXPECT_EQ(caching.statistics().plain_calls, 1);
    EXPECT_EQ(caching.statistics().plain_reason, reason);
    EXPECT_EQ(caching.statistics().rows_fetched, 0);
  }
}

TEST_F(CachingClientTest, RequestsThatAskForMoreGoThePlainWay) {
  FakeModel other = Model(3);
  other.name = "other";
  fake_->AddModel(other);
  const std::function<void(EmbedRequest&)> changes[] = {
      [](EmbedRequest& request) {
        request.attention_mask = {1, 0, 1, 1};
      },
      [](EmbedRequest& request) {
        request.row_lengths = {2, 2};
      },
      [](EmbedRequest& request) { request.model_version = "1"; },
      [](EmbedRequest& request) { request.model = "other"; },
      [](EmbedRequest& request) { request.if_checksum = "tables 1"; },
      [](EmbedRequest& request) {
        request.part = Part::kToken;
        request.unique = true;
      },
      [](EmbedRequest& request) { request.part = Part::kPosition; },
      [](EmbedRequest& request) {
        request.ids.clear();
        request.inputs_embeds = InputTensor::FromFloats(Drawn(4, 5), {2, 2, kD});
      }};
  for (const auto& change : changes) {
    const CachingClient caching = Caching();
    EmbedRequest request = Request({1, 2, 3, 4}, 2, 2);
    change(request);

    ExpectPlain(caching, request);

    EXPECT_EQ(caching.statistics().plain_calls, 1);
    EXPECT_NE(caching.statistics().plain_reason, "");
  }
}

TEST_F(CachingClientTest, ResultsForSharedMemoryAreTheServersToWrite) {
  const CachingClient caching = Caching();
  EmbedRequest request = Request({1, 2, 3, 4}, 2, 2);
  request.output_target = {.region = "r", .byte_size = 4096};

  EXPECT_THAT(caching.Embed(request), ReasonIs("REGIONS_OFF"));

  EXPECT_EQ(caching.statistics().plain_calls, 1);
}

TEST_F(CachingClientTest, BadRequestsGetTheServersErrors) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({1, 2, 3, 4}, 2, 2)), IsOk());
  const std::function<void(EmbedRequest&)> changes[] = {
      [](EmbedRequest& request) { request.ids[3] = kV; },
      [](EmbedRequest& request) { request.ids[1] = -1; },
      [](EmbedRequest& request) { request.ids.pop_back(); },
      [](EmbedRequest& request) { request.batch_size = -2; },
      [](EmbedRequest& request) { request.sequence_length = 0; },
      [](EmbedRequest& request) { request.batch_size = std::int64_t{1} << 62; },
      [](EmbedRequest& request) { request.position_offsets = {-1}; },
      [](EmbedRequest& request) { request.position_offsets = {kL - 1}; },
      [](EmbedRequest& request) {
        request.position_offsets = {0, 1, 2};
      },
      [](EmbedRequest& request) { request.position_offsets = {std::int64_t{1} << 62}; },
      [](EmbedRequest& request) {
        request.position_ids = {0, kL};
      },
      [](EmbedRequest& request) {
        request.position_ids = {0, 1, 2};
      },
      [](EmbedRequest& request) {
        request.token_type_ids = {0, 0, 0, 0};
      },
      [](EmbedRequest& request) { request.output_type = DataType::kInt8; },
      [](EmbedRequest& request) { request.part = static_cast<Part>(9); },
      [](EmbedRequest& request) { request.model = "nobody"; },
      [](EmbedRequest& request) { request.if_checksum = "other"; }};
  for (const auto& change : changes) {
    EmbedRequest request = Request({1, 2, 3, 4}, 2, 2);
    change(request);

    const auto result = caching.Embed(request);

    const auto plain = client_.Embed(request);
    ASSERT_FALSE(plain.ok());
    EXPECT_EQ(result.status(), plain.status());
  }
}

TEST_F(CachingClientTest, ModelThatIsNotServedGetsTheServersError) {
  const CachingClient caching = CachingClient::Create(client_, "nobody").value();
  EmbedRequest request = Request({1}, 1, 1);
  request.model = "nobody";

  EXPECT_EQ(caching.Embed(request).status(), client_.Embed(request).status());
}

TEST_F(CachingClientTest, MemoryOfAnotherSizeIsRefusedAndUntouched) {
  const CachingClient caching = Caching();
  std::vector<float> out(2 * kD + 1, -5.0f);

  const auto info = caching.EmbedInto(Request({5, 3}, 1, 2), std::span<float>(out));

  EXPECT_THAT(info, StatusIs(absl::StatusCode::kInvalidArgument,
                             AllOf(HasSubstr("the given memory has 44 bytes"), HasSubstr("40"))));
  EXPECT_THAT(out, ::testing::Each(-5.0f));
}

TEST_F(CachingClientTest, FloatsForANarrowTypeAreRefused) {
  EmbedRequest request = Request({5, 3}, 1, 2);
  request.output_type = DataType::kFloat16;
  std::vector<float> out(kD);

  EXPECT_THAT(Caching().EmbedInto(request, std::span<float>(out)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("the given memory is for float32")));
}

TEST_F(CachingClientTest, FailedFetchIsReturnedAndWritesNothing) {
  const CachingClient caching = Caching();
  ASSERT_THAT(caching.Embed(Request({5, 3}, 1, 2)), IsOk());
  fake_->FailNext(absl::UnavailableError("gone"));
  std::vector<float> out(2 * kD, -5.0f);

  EXPECT_THAT(caching.EmbedInto(Request({5, 4}, 1, 2), std::span<float>(out)),
              StatusIs(absl::StatusCode::kUnavailable, "gone"));

  EXPECT_THAT(out, ::testing::Each(-5.0f));
  ExpectPlain(caching, Request({5, 4}, 1, 2));
}

// A server that takes its time to describe a model.
class SlowTransport : public FakeTransport {
 public:
  static constexpr absl::Duration kDelay = absl::Milliseconds(20);

  absl::StatusOr<ModelDescription> DescribeModel(const DescribeModelRequest& request,
                                                 const CallOptions& options) override {
    absl::SleepFor(kDelay);
    return FakeTransport::DescribeModel(request, options);
  }

  absl::StatusOr<EmbedInfo> Embed(const EmbedRequest& request, const Place& place,
                                  const CallOptions& options) override {
    timeout = options.timeout;
    return FakeTransport::Embed(request, place, options);
  }

  std::optional<absl::Duration> timeout;  // of the latest Embed
};

TEST(CachingClientAndServer, PlainCallHasTheRestOfTheTime) {
  auto slow = std::make_shared<SlowTransport>();
  slow->AddModel(Model());
  const CachingClient caching = CachingClient::Create(Client(slow), "m").value();
  EmbedRequest request = Request({5, 3}, 1, 2);
  request.if_checksum = "tables 1";

  EXPECT_THAT(caching.Embed(request, {.timeout = absl::Seconds(60)}), IsOk());

  EXPECT_LE(slow->timeout, absl::Seconds(60) - SlowTransport::kDelay);
}

TEST_F(CachingClientTest, MemoryIsBoundedAndTensorsStayRight) {
  constexpr std::size_t kMaxBytes = 6'000;  // some 50 rows
  const CachingClient caching = Caching({.max_bytes = kMaxBytes});
  std::mt19937 random(4);
  for (int i = 0; i < 200; ++i) {
    ExpectPlain(caching, RandomRequest(random));
    EXPECT_LE(caching.statistics().bytes_kept, static_cast<std::int64_t>(kMaxBytes));
  }
  EXPECT_EQ(caching.statistics().plain_calls, 0);
  EXPECT_GT(caching.statistics().rows_kept, 30);
  EXPECT_LT(caching.statistics().rows_kept, kV);
}

TEST_F(CachingClientTest, PositionsThatDoNotFitGoThePlainWay) {
  const CachingClient caching = Caching({.max_bytes = 2'000});  // 50 positions in half of it
  EmbedRequest request = Request({5, 3}, 1, 2);
  ExpectPlain(caching, request);
  EXPECT_EQ(caching.statistics().plain_calls, 0);
  request.position_offsets = {60};

  ExpectPlain(caching, request);

  EXPECT_EQ(caching.statistics().plain_reason, "positions do not fit into max_bytes");
}

TEST_F(CachingClientTest, MemoryForNoRowGoesThePlainWay) {
  const CachingClient caching = Caching({.max_bytes = 10});

  ExpectPlain(caching, Request({5, 3}, 1, 2));

  EXPECT_EQ(caching.statistics().plain_reason, "there is no room for a row in max_bytes");
}

TEST_F(CachingClientTest, FetchesKeepToTheServersLimits) {
  fake_->SetServerInfo({.limits = {.max_response_bytes = 400, .max_batch_size = 8, .max_sequence_length = 6}});
  const CachingClient caching = Caching();

  ExpectPlain(caching, Request({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 3, 4));

  EXPECT_EQ(caching.statistics().plain_calls, 0);
}

TEST_F(CachingClientTest, BatchBeyondALimitGetsTheServersError) {
  fake_->SetServerInfo({.limits = {.max_response_bytes = 60, .max_batch_size = 8, .max_sequence_length = 6}});
  const CachingClient caching = Caching();

  EXPECT_THAT(caching.Embed(Request({1, 2, 3, 4}, 2, 2)), ReasonIs("RESPONSE_TOO_LARGE"));
}

TEST_F(CachingClientTest, NarrowRowsAreRoundedBeforeTheSum) {
  FakeModel model = Model();
  for (float& value : model.position) value = 0;
  fake_->AddModel(model);
  for (const DataType type : {DataType::kFloat16, DataType::kBfloat16}) {
    const CachingClient caching = Caching({.row_type = type});
    EmbedRequest request = Request({5, 3, 5, 7}, 2, 2);
    request.output_type = type;

    ExpectPlain(caching, request);

    EXPECT_EQ(caching.statistics().bytes_fetched, 3 * kD * 2 + 64 * kD * 4);
  }
}

TEST_F(CachingClientTest, ManyThreadsShareACacheThatEvicts) {
  const CachingClient caching = Caching({.max_bytes = 6'000});
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int i = 0; i < 150; ++i) {
        const EmbedRequest request = RandomRequest(random);
        const auto result = caching.Embed(request);
        const auto plain = client_.Embed(request);
        const bool equal = result.ok() && plain.ok() && result->bytes().size() == plain->bytes().size() &&
                           std::memcmp(result->bytes().data(), plain->bytes().data(), plain->bytes().size()) == 0;
        wrong += equal ? 0 : 1;
      }
    });
  }
  threads.clear();

  EXPECT_EQ(wrong, 0);
  EXPECT_LE(caching.statistics().bytes_kept, 6'000);
}

TEST(CachingClient, RefusesOptionsThatAreNone) {
  const Client client(std::make_shared<FakeTransport>());

  EXPECT_THAT(CachingClient::Create(client, "m", {.row_type = DataType::kFloat64}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("row_type is float64")));
  EXPECT_THAT(CachingClient::Create(client, "m", {.max_age = -absl::Seconds(1)}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_age")));
}

}  // namespace
}  // namespace embd::client
