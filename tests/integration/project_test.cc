#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "embd/client/error.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::InputTensor;
using client::Projection;
using client::ProjectRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kRows = 20'011;  // of "large"; several pieces of a search
constexpr std::int64_t kDim = 12;

// large: a seeded table. words: (1, 2), (3, 4), (1, 2), with a scale of 0.5, a bias and a softcap. untied: its results
// go elsewhere.
class Projections : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = std::filesystem::temp_directory_path() / ("embd-project-" + std::to_string(getpid()));
    std::filesystem::create_directory(folder_);
    std::ofstream(folder_ / "words.txt") << "king 1 2\nqueen 3 4\nman 1 2\n";
    WriteBias({1, -2, 0});
    config::ServerConfig config;
    config.models = {
        testing::SmallModel("large", kRows, kDim, 0),
        {.name = "words",
         .token = config::TableFile{.path = (folder_ / "words.txt").string()},
         .output = {.scale = 0.5, .softcap = 4.0, .bias = config::TableFile{.path = (folder_ / "bias.npy").string()}}},
        testing::SmallModel("untied", 5, 2, 0)};
    config.models[2].output.tied = false;
    config.limits.max_response_bytes = 1 << 20;
    served_ = new testing::ServedModels(config);
    client_ = new client::Client(served_->TcpClient());
  }
  static void TearDownTestSuite() {
    delete client_;
    delete served_;
    std::filesystem::remove_all(folder_);
  }

  static void WriteBias(const std::vector<float>& values) {
    std::string header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
    header.resize(117, ' ');
    header += '\n';
    std::ofstream file(folder_ / "bias.npy", std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header;
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(float)));
  }

  static absl::StatusOr<Projection> Ask(ProjectRequest request, const std::vector<float>& vectors,
                                        std::vector<std::int64_t> shape) {
    request.vectors = InputTensor::FromFloats(vectors, std::move(shape));
    return client_->Project(request);
  }

  // Of "words", with the vector (2, 1): dot products 4, 10, 4.
  static absl::StatusOr<Projection> AskWords(ProjectRequest request) {
    request.model = "words";
    return Ask(std::move(request), {2, 1}, {2});
  }

  static std::filesystem::path folder_;
  static testing::ServedModels* served_;
  static client::Client* client_;
};
std::filesystem::path Projections::folder_;
testing::ServedModels* Projections::served_ = nullptr;
client::Client* Projections::client_ = nullptr;

std::vector<float> RandomVectors(std::int64_t count) {
  std::mt19937_64 random(17);
  std::vector<float> values(static_cast<std::size_t>(count * kDim));
  for (float& value : values) value = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1.0);
  return values;
}

TEST_F(Projections, OfALargeTableEqualANaiveSearchInDouble) {
  constexpr std::size_t kVectors = 6;
  constexpr std::size_t kTop = 15;
  constexpr auto kWidth = static_cast<std::size_t>(kDim);
  std::vector<std::int64_t> ids(kRows);
  std::iota(ids.begin(), ids.end(), 0);
  const auto table = client_->Embed({.model = "large", .ids = ids, .batch_size = 1, .sequence_length = kRows});
  ASSERT_THAT(table, IsOk());
  const std::span<const float> rows = table->As<float>().value();
  const std::vector<float> vectors = RandomVectors(kVectors);

  const auto found = Ask({.model = "large", .top_k = kTop, .log_probabilities = true}, vectors, {kVectors, kDim});

  ASSERT_THAT(found, IsOk());
  EXPECT_TRUE(found->tied);
  ASSERT_EQ(found->ids.size(), kVectors * kTop);
  for (std::size_t v = 0; v < kVectors; ++v) {
    std::vector<double> scores(kRows);
    double sum = 0;
    for (std::size_t row = 0; row < scores.size(); ++row) {
      for (std::size_t d = 0; d < kWidth; ++d) {
        scores[row] += double{vectors[v * kWidth + d]} * double{rows[row * kWidth + d]};
      }
      sum += std::exp(scores[row]);
    }
    std::sort(ids.begin(), ids.end(), [&scores](std::int64_t a, std::int64_t b) {
      return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
    });
    EXPECT_NEAR(double{found->log_sum_exp[v]}, std::log(sum), 1e-5);
    for (std::size_t i = 0; i < kTop; ++i) {
      EXPECT_EQ(found->ids[v * kTop + i], ids[i]);
      EXPECT_NEAR(double{found->scores[v * kTop + i]}, scores[static_cast<std::size_t>(ids[i])] - std::log(sum), 1e-5);
    }
  }
}

TEST_F(Projections, TakeTheModelsScaleBiasAndSoftcap) {
  const auto found = AskWords({.with_tokens = true});

  ASSERT_THAT(found, IsOk());
  EXPECT_EQ(found->k, 3);
  EXPECT_THAT(found->ids, ElementsAre(0, 1, 2));  // 2 + 1, 5 - 2, 2 + 0
  EXPECT_THAT(found->tokens, ElementsAre("king", "queen", "man"));
  const auto capped = [](double score) { return FloatEq(static_cast<float>(4 * std::tanh(score / 4))); };
  EXPECT_THAT(found->scores, ElementsAre(capped(3), capped(3), capped(2)));
  EXPECT_THAT(found->log_sum_exp, IsEmpty());
}

TEST_F(Projections, TakeOthersInTheirPlace) {
  const auto found = AskWords({.scale = 2.0, .softcap = 1e6});

  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(found->ids, ElementsAre(1, 0, 2));
  EXPECT_THAT(found->scores, ElementsAre(FloatEq(18), FloatEq(9), FloatEq(8)));
}

TEST_F(Projections, RawOnesAreDotProductsAndTiesGoToTheLowerId) {
  const auto found = AskWords({.raw_scores = true});
  const auto untied = Ask({.model = "untied", .top_k = 1, .raw_scores = true}, {0, 0}, {1, 2});

  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(found->ids, ElementsAre(1, 0, 2));
  EXPECT_THAT(found->scores, ElementsAre(10, 4, 4));
  ASSERT_THAT(untied, IsOk());
  EXPECT_FALSE(untied->tied);
  EXPECT_THAT(untied->ids, ElementsAre(0));
}

TEST_F(Projections, ProbabilitiesOfAllCandidatesAddUpToOne) {
  const auto found = AskWords({.log_probabilities = true, .candidate_ids = {2, 0, 1}});

  ASSERT_THAT(found, IsOk());
  EXPECT_THAT(found->ids, ElementsAre(2, 0, 1));
  double sum = 0;
  for (const float logarithm : found->scores) sum += std::exp(double{logarithm});
  EXPECT_NEAR(sum, 1.0, 1e-6);
}

TEST_F(Projections, TakeVectorsOfNarrowerAndWiderTypes) {
  const std::vector<std::uint16_t> half = {0x4000, 0x3C00};  // 2, 1
  const std::vector<double> wide = {2, 1};
  const auto ask = [](client::DataType type, const auto& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return client_->Project({.model = "words",
                             .vectors = {.data_type = type, .shape = {1, 2}, .bytes = {bytes.begin(), bytes.end()}},
                             .top_k = 1,
                             .raw_scores = true});
  };

  EXPECT_THAT(ask(client::DataType::kFloat16, half)->scores, ElementsAre(10));
  EXPECT_THAT(ask(client::DataType::kFloat64, wide)->scores, ElementsAre(10));
}

TEST_F(Projections, ModelsAreDescribedWithTheirOutput) {
  const auto words = client_->DescribeModel({.model = "words"});
  const auto untied = client_->DescribeModel({.model = "untied"});

  ASSERT_THAT(words, IsOk());
  EXPECT_TRUE(words->output_tied);
  EXPECT_EQ(words->output_scale, 0.5);
  EXPECT_EQ(words->output_softcap, 4.0);
  EXPECT_TRUE(words->has_output_bias);
  ASSERT_THAT(untied, IsOk());
  EXPECT_FALSE(untied->output_tied);
  EXPECT_EQ(untied->output_scale, 1.0);
  EXPECT_EQ(untied->output_softcap, std::nullopt);
  EXPECT_FALSE(untied->has_output_bias);
}

/// A request that is refused; unless `vectors` says otherwise it has the vector (2, 1).
struct Refusal {
  std::string reason;
  std::string message;
  ProjectRequest request;
};

// The fake, whose messages are shorter, refuses it, too.
TEST_F(Projections, RefuseBadRequestsAsTheFakeDoes) {
  const auto fake = std::make_shared<client::FakeTransport>();
  fake->AddModel(
      {.name = "words", .embedding_dim = 2, .token = {1, 2, 3, 4, 1, 2}, .vocabulary = {"king", "queen", "man"}});
  fake->AddModel({.name = "untied", .embedding_dim = 2, .token = {1, 2, 3, 4}, .output_tied = false});
  const std::vector<float> values = {2, 1};
  const InputTensor vector = InputTensor::FromFloats(values, {2});
  const std::vector<Refusal> refusals = {
      {"MODEL_NOT_FOUND", "\"nope\"", {.model = "nope"}},
      {"NO_VOCABULARY",
       "model \"untied\" has no vocabulary",
       {.model = "untied", .raw_scores = true, .with_tokens = true}},
      {"NOT_TIED", "does not project by its token table", {.model = "untied"}},
      {"INVALID_OPTION", "top_k = 4 is outside [0, 3]", {.model = "words", .top_k = 4}},
      {"INVALID_OPTION", "top_k = -1", {.model = "words", .top_k = -1}},
      {"INVALID_OPTION", "scale must be a finite number > 0, got 0", {.model = "words", .scale = 0.0}},
      {"INVALID_OPTION", "softcap must be a finite number > 0, got inf", {.model = "words", .softcap = HUGE_VAL}},
      {"INVALID_OPTION", "raw_scores excludes scale and softcap", {.model = "words", .scale = 1.0, .raw_scores = true}},
      {"INVALID_OPTION",
       "top_k and candidate_ids exclude each other",
       {.model = "words", .top_k = 1, .candidate_ids = {0}}},
      {"INVALID_OPTION",
       "65537 candidate_ids exceed the 65536",
       {.model = "words", .candidate_ids = std::vector<std::int64_t>(65537)}},
      {"ID_OUT_OF_RANGE",
       "candidate_ids[1] = 3 is outside [0, 3) of model \"words\"",
       {.model = "words", .candidate_ids = {0, 3}}},
      {"INVALID_SHAPE",
       "vectors.shape must be (N, 2) or (2), N in [1, 1024], got (1)",
       {.model = "words", .vectors = InputTensor::FromFloats(std::span(values).first(1), {1})}},
      {"INVALID_SHAPE", "got (0, 2)", {.model = "words", .vectors = InputTensor::FromFloats({}, {0, 2})}},
      {"INVALID_SHAPE",
       "vectors.data has 8 bytes, but (2, 2) float32 needs 16",
       {.model = "words",
        .vectors = {.data_type = client::DataType::kFloat32, .shape = {2, 2}, .bytes = vector.bytes}}},
      {"INVALID_OPTION",
       "vectors.data_type int64 is no type of vectors",
       {.model = "words",
        .vectors = {.data_type = client::DataType::kInt64, .shape = {2}, .bytes = std::vector<std::byte>(16)}}}};
  for (Refusal refusal : refusals) {
    if (refusal.request.vectors.shape.empty()) refusal.request.vectors = vector;

    const auto refused = client_->Project(refusal.request);
    const auto faked = client::Client(fake).Project(refusal.request);

    EXPECT_THAT(refused, ReasonIs(refusal.reason)) << refusal.message;
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr(refusal.message));
    EXPECT_THAT(faked, AllOf(StatusIs(refused.status().code(), ::testing::_), ReasonIs(refusal.reason)))
        << refusal.message;
  }
}

TEST_F(Projections, BeyondTheLimitOfAReplyAreRefused) {
  EXPECT_THAT(Ask({.model = "large", .candidate_ids = std::vector<std::int64_t>(33'000)}, RandomVectors(1), {1, kDim}),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max_response_bytes 1048576")),
                    ReasonIs("RESPONSE_TOO_LARGE")));
}

}  // namespace
}  // namespace embd
