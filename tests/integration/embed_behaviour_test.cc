// One suite of behaviours, run by every route: what a request gets must not depend on how it came.

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "server/core/kernels/simd_target.h"
#include "server/core/table/checksum.h"
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

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
constexpr std::int64_t kV = 10, kD = 4, kL = 8;

config::ServerConfig Config() {
  config::ServerConfig config;
  config.models = {testing::SmallModel("tiny", kV, kD, kL), testing::SmallModel("plain", kV, kD, 0),
                   testing::SmallModel("wide", 1000, 70, 1100)};
  config.models[1].position = config::RotaryPositions{};
  config.limits.max_batch_size = 64;
  config.limits.max_sequence_length = 4096;
  config.limits.max_response_bytes = 2 << 20;
  return config;
}

// One server for the whole suite; routes are asked for by name.
class EmbedBehaviour : public ::testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    served_ = new testing::ServedModels(Config());
    for (testing::Route& route : testing::AllRoutes(Config(), *served_)) {
      routes_->emplace(route.name, route.embed);
    }
  }
  static void TearDownTestSuite() {
    routes_->clear();
    delete served_;
    served_ = nullptr;
  }

  static absl::StatusOr<client::Embedding> Embed(const EmbedRequest& request) {
    return routes_->at(GetParam())(request);
  }

  static std::vector<float> Values(const EmbedRequest& request) {
    const auto result = Embed(request);
    EXPECT_THAT(result, IsOk());
    if (!result.ok()) return {};
    const auto values = result->As<float>();
    return {values->begin(), values->end()};
  }

  using Routes = std::map<std::string, std::function<absl::StatusOr<client::Embedding>(const EmbedRequest&)>>;
  static testing::ServedModels* served_;
  static Routes* routes_;
};
testing::ServedModels* EmbedBehaviour::served_ = nullptr;
EmbedBehaviour::Routes* EmbedBehaviour::routes_ = new EmbedBehaviour::Routes;

INSTANTIATE_TEST_SUITE_P(ByEveryRoute, EmbedBehaviour,
                         ::testing::Values("core", "in_process", "in_process_stream", "tcp", "tcp_async", "tcp_chunks",
                                           "tcp_chunks_into", "tcp_into", "tcp_stream", "unix", "unix_stream"),
                         [](const auto& route) { return route.param; });

EmbedRequest Request(std::vector<std::int64_t> ids, std::int64_t batch, std::int64_t tokens,
                     const std::string& model = "tiny") {
  return {.model = model, .ids = std::move(ids), .batch_size = batch, .sequence_length = tokens};
}

TEST_P(EmbedBehaviour, ComposedIsTheFloatSumOfItsParts) {
  EmbedRequest request = Request({1, 2, 3, 9, 0, 1}, 2, 3);
  const std::vector<float> composed = Values(request);
  request.part = Part::kToken;
  const std::vector<float> token = Values(request);
  request.part = Part::kPosition;
  request.ids.clear();
  const std::vector<float> position = Values(request);

  ASSERT_EQ(composed.size(), 24u);
  ASSERT_EQ(token.size(), 24u);
  ASSERT_EQ(position.size(), 24u);
  for (std::size_t i = 0; i < composed.size(); ++i) EXPECT_EQ(composed[i], token[i] + position[i]) << i;
}

TEST_P(EmbedBehaviour, ReplyNamesModelShapeAndType) {
  const auto result = Embed(Request({1, 2, 3, 9, 0, 1}, 2, 3));

  ASSERT_THAT(result, IsOk());
  EXPECT_EQ(result->info().model, "tiny");
  EXPECT_EQ(result->info().model_version, "1");
  EXPECT_EQ(result->info().generation, 1);
  EXPECT_EQ(result->info().checksum.size(), 64u);
  EXPECT_THAT(result->shape(), ElementsAre(2, 3, kD));
  EXPECT_EQ(result->data_type(), DataType::kFloat32);
}

TEST_P(EmbedBehaviour, RowOfABatchEqualsTheRowAlone) {
  const std::vector<float> batch = Values(Request({1, 2, 3, 9, 0, 1}, 2, 3));
  const std::vector<float> alone = Values(Request({9, 0, 1}, 1, 3));

  EXPECT_EQ(std::vector<float>(batch.begin() + 12, batch.end()), alone);
}

TEST_P(EmbedBehaviour, OffsetContinuesWhereDecodingLeftOff) {
  const std::vector<float> whole = Values(Request({1, 2, 3, 4, 5}, 1, 5));
  EmbedRequest rest = Request({4, 5}, 1, 2);
  rest.position_offsets = {3};

  EXPECT_EQ(Values(rest), std::vector<float>(whole.begin() + 12, whole.end()));
}

TEST_P(EmbedBehaviour, OffsetsPerRowEqualExplicitPositions) {
  EmbedRequest offsets = Request({1, 2, 3, 4}, 2, 2);
  offsets.position_offsets = {0, 6};
  EmbedRequest positions = Request({1, 2, 3, 4}, 2, 2);
  positions.position_ids = {0, 1, 6, 7};

  EXPECT_EQ(Values(offsets), Values(positions));
}

TEST_P(EmbedBehaviour, RotaryAddsNothingToTokens) {
  EmbedRequest request = Request({1, 2, 3, 4}, 2, 2, "plain");
  const std::vector<float> composed = Values(request);
  request.part = Part::kToken;

  EXPECT_EQ(composed, Values(request));
}

TEST_P(EmbedBehaviour, EmptyBatchIsAnEmptyTensor) {
  const auto result = Embed(Request({}, 0, 3));

  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->shape(), ElementsAre(0, 3, kD));
  EXPECT_EQ(result->bytes().size(), 0u);
}

TEST_P(EmbedBehaviour, IdOutsideTheTableIsRefusedAndNamesItsCell) {
  const std::pair<std::int64_t, std::string> cases[] = {
      {-1, "-1"},
      {kV, "10"},
      {std::int64_t{1} << 32, "4294967296"},
      {(std::int64_t{1} << 32) - 1, "4294967295"},
      {std::numeric_limits<std::int64_t>::max(), "9223372036854775807"},
      {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808"},
  };
  for (const auto& [id, text] : cases) {
    EXPECT_THAT(Embed(Request({0, 0, 0, 0, 0, id}, 2, 3)),
                AllOf(StatusIs(kInvalid, "ids[1][2] = " + text + " is outside [0, 10) of model \"tiny\""),
                      ReasonIs("ID_OUT_OF_RANGE")));
  }
}

// A report of an engine that an id equal to V took down.
TEST_P(EmbedBehaviour, CallAfterARefusedIdIsServed) {
  EXPECT_THAT(Embed(Request({0, 0, kV}, 1, 3)),
              StatusIs(kInvalid, "ids[0][2] = 10 is outside [0, 10) of model \"tiny\""));
  EXPECT_THAT(Embed(Request({0, 0, kV - 1}, 1, 3)), IsOk());
}

TEST_P(EmbedBehaviour, ShapeThatIsNoneIsRefused) {
  EXPECT_THAT(Embed(Request({1, 2, 3, 4, 5}, 2, 3)),
              AllOf(StatusIs(kInvalid, "ids has 5 values, but batch_size 2 x sequence_length 3 asks for 6"),
                    ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(Embed(Request({}, 1, 0)),
              AllOf(StatusIs(kInvalid, "sequence_length must be >= 1, got 0"), ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(Embed(Request({}, -1, 1)), StatusIs(kInvalid, "batch_size must be >= 0, got -1"));
}

TEST_P(EmbedBehaviour, SequencePastTheTableIsRefusedAsInTheLesson) {
  EXPECT_THAT(Embed(Request(std::vector<std::int64_t>(9), 1, 9)),
              AllOf(StatusIs(kInvalid, "sequence_length 9 exceeds max_context_length 8 of model \"tiny\""),
                    ReasonIs("SEQUENCE_TOO_LONG")));
}

TEST_P(EmbedBehaviour, PositionOfARotaryModelIsRefused) {
  EmbedRequest request = Request({}, 1, 1, "plain");
  request.part = Part::kPosition;

  EXPECT_THAT(Embed(request), AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("is rotary")),
                                    ReasonIs("NO_POSITION_TABLE")));
}

TEST_P(EmbedBehaviour, UnknownModelAndVersionAreNotFound) {
  EmbedRequest version = Request({1}, 1, 1);
  version.model_version = "7";

  EXPECT_THAT(Embed(Request({1}, 1, 1, "large")),
              AllOf(StatusIs(absl::StatusCode::kNotFound,
                             "there is no model \"large\"; there are \"plain\", \"tiny\", \"wide\""),
                    ReasonIs("MODEL_NOT_FOUND")));
  EXPECT_THAT(Embed(version),
              AllOf(StatusIs(absl::StatusCode::kNotFound, "model \"tiny\" has no version \"7\"; it has \"1\""),
                    ReasonIs("VERSION_NOT_FOUND")));
}

TEST_P(EmbedBehaviour, NameOf100KilobytesIsQuotedShort) {
  const auto result = Embed(Request({1}, 1, 1, std::string(100'000, 'x')));

  EXPECT_THAT(result, StatusIs(absl::StatusCode::kNotFound, HasSubstr(std::string(128, 'x') + "…\"")));
  EXPECT_LE(result.status().message().size(), 1024u);
}

TEST_P(EmbedBehaviour, ReplyOverTheLimitIsRefusedBeforeItIsComputedUnlessItComesInBlocks) {
  const auto result = Embed(Request(std::vector<std::int64_t>(8 * 1024), 8, 1024, "wide"));
  if (GetParam().find("chunks") != std::string::npos) {
    EXPECT_THAT(result.status(), IsOk());
    return;
  }
  EXPECT_THAT(result,
              AllOf(StatusIs(kExhausted,
                             "the (8, 1024, 70) float32 reply needs 2293760 bytes, which exceeds "
                             "max_response_bytes 2097152 of this server; ask for fewer rows a call, or by EmbedChunks"),
                    ReasonIs("RESPONSE_TOO_LARGE")));
}

TEST_P(EmbedBehaviour, BatchAndSequenceOverTheirLimitsAreRefused) {
  EXPECT_THAT(
      Embed(Request(std::vector<std::int64_t>(65), 65, 1)),
      AllOf(StatusIs(kExhausted, HasSubstr("batch_size 65 exceeds max_batch_size 64")), ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(Embed(Request(std::vector<std::int64_t>(4097), 1, 4097)),
              AllOf(StatusIs(kExhausted, HasSubstr("sequence_length 4097 exceeds max_sequence_length 4096")),
                    ReasonIs("REQUEST_TOO_LARGE")));
}

// (16, 300, 70): large enough for the workers and for replies over gRPC's usual 4 MB.
EmbedRequest LargeRequest(DataType type) {
  EmbedRequest request = Request({}, 16, 300, "wide");
  for (std::int64_t i = 0; i < 16 * 300; ++i) request.ids.push_back((31 * i * i + 7 * i) % 1000);
  request.output_type = type;
  return request;
}

// The bytes of one batch in each type; recomputed by tests/golden/large_batch.py without any code of ours.
const std::pair<DataType, std::string> kDigests[] = {
    {DataType::kFloat32, "f47366b8cd57282a82374c23bc300f503360b19c66077b603c805073562b52bb"},
    {DataType::kFloat16, "51d983ddd634da709ce455f72a31dda6cd44c99a0a957497533dffc8e92a5368"},
    {DataType::kBfloat16, "571bf0b5605c6615df36ccfa81cfa2be718ab11313b8a3a42be979dd9f9c64e0"},
};

TEST_P(EmbedBehaviour, OneBatchHasTheSameBytesOnEverySimdTarget) {
  for (const std::string& target : core::SupportedSimdTargets()) {
    for (const auto& [type, digest] : kDigests) {
      SCOPED_TRACE(target + " " + digest);
      ASSERT_THAT(core::CapSimdTarget(target), IsOk());

      const auto result = Embed(LargeRequest(type));

      ASSERT_THAT(result, IsOk());
      EXPECT_EQ(core::Sha256Hex(result->bytes()), digest);
    }
  }
  ASSERT_THAT(core::CapSimdTarget("avx3"), IsOk());
}

}  // namespace
}  // namespace embd
