// What saves callers bytes: the rows of distinct ids alone, and refusing once the tables they keep rows of have
// changed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::DataType;
using client::EmbedRequest;
using client::Part;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr std::int64_t kV = 10, kD = 4, kL = 8;
constexpr std::int64_t kMaxResponseBytes = 300'000;

config::ServerConfig Config() {
  config::ServerConfig config;
  config.models = {testing::SmallModel("tiny", kV, kD, kL), testing::SmallModel("zero", kV, kD, kL),
                   testing::SmallModel("unk", kV, kD, kL), testing::SmallModel("wide", 3000, 70, kL)};
  config.models[0].token_scale = config::TokenScale{.sqrt_dim = true};
  config.models[1].out_of_range = config::OutOfRange{.policy = config::OutOfRange::Policy::kZero};
  config.models[2].out_of_range = config::OutOfRange{.policy = config::OutOfRange::Policy::kUnk, .unk_id = 3};
  config.limits.max_response_bytes = kMaxResponseBytes;
  return config;
}

EmbedRequest Request(std::vector<std::int64_t> ids, std::int64_t batch, std::int64_t tokens) {
  return {.model = "tiny", .ids = std::move(ids), .batch_size = batch, .sequence_length = tokens};
}

EmbedRequest Distinct(std::vector<std::int64_t> ids, std::int64_t batch, std::int64_t tokens) {
  EmbedRequest request = Request(std::move(ids), batch, tokens);
  request.part = Part::kToken;
  request.unique = true;
  return request;
}

// One server for the suite, asked by the routes that have a wire.
class SmallerReplies : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    served_ = new testing::ServedModels(Config());
    routes_ = new std::map<std::string, testing::Route>;
    for (testing::Route& route : testing::AllRoutes(Config(), *served_)) routes_->emplace(route.name, route);
  }
  static void TearDownTestSuite() {
    delete routes_;
    delete served_;
  }

  static absl::StatusOr<client::Embedding> Embed(const EmbedRequest& request) {
    return routes_->at(GetParam()).embed(request);
  }

  static inline testing::ServedModels* served_ = nullptr;
  static inline std::map<std::string, testing::Route>* routes_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(ByEveryWire, SmallerReplies,
                         ::testing::Values("in_process", "in_process_stream", "tcp", "tcp_async", "tcp_into",
                                           "tcp_stream", "unix", "unix_stream"),
                         [](const auto& route) { return route.param; });

TEST_P(SmallerReplies, ChecksumOfTheTablesServedIsAccepted) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  const auto first = Embed(request);
  ASSERT_THAT(first, IsOk());
  request.if_checksum = first->info().checksum;

  EXPECT_THAT(Embed(request), IsOk());
}

TEST_P(SmallerReplies, OtherChecksumIsRefusedAndNamesBoth) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  const auto first = Embed(request);
  ASSERT_THAT(first, IsOk());
  request.if_checksum = "an\nother";

  EXPECT_THAT(Embed(request), AllOf(StatusIs(absl::StatusCode::kFailedPrecondition,
                                             "the tables of model \"tiny\" have checksum \"" + first->info().checksum +
                                                 "\", but if_checksum is \"an\\nother\""),
                                    ReasonIs("TABLES_CHANGED")));
}

TEST_P(SmallerReplies, ChecksumOf100KilobytesIsQuotedShort) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  request.if_checksum = std::string(100'000, 'c');

  const auto result = Embed(request);

  EXPECT_THAT(result,
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("ccc…")), ReasonIs("TABLES_CHANGED")));
  EXPECT_LE(result.status().message().size(), 1024u);
}

TEST_P(SmallerReplies, ChangedTablesAreToldBeforeAnythingElseIsChecked) {
  EmbedRequest request = Request({1, 99}, 5, 7);
  request.if_checksum = "other";

  EXPECT_THAT(Embed(request), ReasonIs("TABLES_CHANGED"));
}

TEST_P(SmallerReplies, ModelThatIsNotServedIsToldBeforeItsChecksum) {
  EmbedRequest request = Request({1, 2}, 1, 2);
  request.model = "nobody";
  request.if_checksum = "other";

  EXPECT_THAT(Embed(request), ReasonIs("MODEL_NOT_FOUND"));
}

// The rows of the reply to `distinct`, put where its inverse says, are the reply to the same request without `unique`.
void ExpectEqualsPlain(const std::function<absl::StatusOr<client::Embedding>(const EmbedRequest&)>& embed,
                       EmbedRequest request) {
  request.unique = true;
  const auto distinct = embed(request);
  request.unique = false;
  const auto plain = embed(request);
  ASSERT_THAT(distinct, IsOk());
  ASSERT_THAT(plain, IsOk());
  const auto rows = static_cast<std::size_t>(distinct->shape()[0]);
  ASSERT_GT(rows, 0u);
  const std::size_t row_bytes = distinct->bytes().size() / rows;
  std::vector<std::byte> spread;
  for (const std::int64_t number : distinct->info().inverse) {
    const auto row = distinct->bytes().subspan(static_cast<std::size_t>(number) * row_bytes, row_bytes);
    spread.insert(spread.end(), row.begin(), row.end());
  }
  EXPECT_EQ(spread, std::vector<std::byte>(plain->bytes().begin(), plain->bytes().end()));
}

TEST_P(SmallerReplies, DistinctIdsComeInTheOrderOfTheirFirstCells) {
  const auto result = Embed(Distinct({7, 3, 7, 7, 0, 3}, 2, 3));

  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->info().unique_ids, ElementsAre(7, 3, 0));
  EXPECT_THAT(result->info().inverse, ElementsAre(0, 1, 0, 0, 2, 1));
  EXPECT_THAT(result->shape(), ElementsAre(3, kD));
}

TEST_P(SmallerReplies, DistinctRowsSpreadAreThePlainReply) {
  for (const DataType type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
    EmbedRequest request = Distinct({7, 3, 7, 7, 0, 3}, 2, 3);
    request.output_type = type;

    ExpectEqualsPlain(Embed, request);
  }
}

TEST_P(SmallerReplies, DistinctRowsOfManyIdsSpreadAreThePlainReply) {
  std::vector<std::int64_t> ids;
  for (std::int64_t i = 0; i < 1000; ++i) ids.push_back(i * i % 2999);
  EmbedRequest request = Distinct(ids, 5, 200);
  request.model = "wide";

  ExpectEqualsPlain(Embed, request);
}

TEST_P(SmallerReplies, DistinctRowsOfRaggedRowsHaveOneIndexACell) {
  EmbedRequest request = Distinct({5, 1, 5, 2}, 0, 0);
  request.row_lengths = {3, 0, 1};

  const auto result = Embed(request);

  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->info().unique_ids, ElementsAre(5, 1, 2));
  EXPECT_THAT(result->info().inverse, ElementsAre(0, 1, 0, 2));
  EXPECT_THAT(result->info().row_lengths, ElementsAre(3, 0, 1));
  EXPECT_THAT(result->shape(), ElementsAre(3, kD));
}

TEST_P(SmallerReplies, DistinctRowsOfAnEmptyBatchAreNone) {
  const auto result = Embed(Distinct({}, 0, 3));

  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->info().unique_ids, IsEmpty());
  EXPECT_THAT(result->info().inverse, IsEmpty());
  EXPECT_THAT(result->shape(), ElementsAre(0, kD));
}

TEST_P(SmallerReplies, PlainReplyHasNeitherDistinctIdsNorInverse) {
  const auto result = Embed(Request({1, 1}, 1, 2));

  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->info().unique_ids, IsEmpty());
  EXPECT_THAT(result->info().inverse, IsEmpty());
}

TEST_P(SmallerReplies, DistinctIdsOutOfRangeAreToldAsSent) {
  for (const char* model : {"zero", "unk"}) {
    SCOPED_TRACE(model);
    EmbedRequest request = Distinct({99, 3, -1, 99}, 1, 4);
    request.model = model;

    const auto result = Embed(request);

    ASSERT_THAT(result, IsOk());
    EXPECT_THAT(result->info().unique_ids, ElementsAre(99, 3, -1));
    EXPECT_THAT(result->info().inverse, ElementsAre(0, 1, 2, 0));
    EXPECT_THAT(result->info().warnings, ElementsAre(HasSubstr("3 ids were outside [0, 10)")));
    ExpectEqualsPlain(Embed, request);
  }
}

TEST_P(SmallerReplies, DistinctIdOutOfRangeIsRefusedAndNamesItsCell) {
  EXPECT_THAT(Embed(Distinct({1, 2, 1, 10}, 2, 2)),
              AllOf(StatusIs(kInvalid, HasSubstr("ids[1][1] = 10 is outside [0, 10)")), ReasonIs("ID_OUT_OF_RANGE")));
}

TEST_P(SmallerReplies, DistinctRowsOfOtherPartsAreRefused) {
  for (const Part part : {Part::kComposed, Part::kPosition, Part::kUnspecified}) {
    EmbedRequest request = Distinct({1, 2}, 1, 2);
    request.part = part;

    EXPECT_THAT(Embed(request),
                AllOf(StatusIs(kInvalid, HasSubstr("unique needs part TOKEN")), ReasonIs("INVALID_OPTION")));
  }
}

TEST_P(SmallerReplies, DistinctRowsOfGivenVectorsAreRefused) {
  EmbedRequest request = Distinct({}, 1, 1);
  request.inputs_embeds = client::InputTensor::FromFloats(std::vector<float>(kD, 1.0f), {1, 1, kD});

  EXPECT_THAT(Embed(request),
              AllOf(StatusIs(kInvalid, "unique and inputs_embeds exclude each other"), ReasonIs("INVALID_OPTION")));
}

// 2,000 rows of one id are 560,000 bytes plainly, beyond the limit, but one row and 2,000 indices of a byte.
TEST_P(SmallerReplies, LimitOfTheReplyHoldsForTheDistinctRows) {
  EmbedRequest request = Distinct(std::vector<std::int64_t>(2000, 5), 1, 2000);
  request.model = "wide";
  EXPECT_THAT(Embed(request), IsOk());

  for (std::int64_t i = 0; i < 2000; ++i) request.ids[static_cast<std::size_t>(i)] = i;

  // 2,000 x 280, and the ids and indices: twice 128 of one byte and 1,872 of two.
  EXPECT_THAT(Embed(request),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted,
                             HasSubstr("the (2000, 70) float32 reply and its index need 567744 bytes, which exceeds "
                                       "max_response_bytes 300000")),
                    ReasonIs("RESPONSE_TOO_LARGE")));
}

}  // namespace
}  // namespace embd
