// The lesson's assertions, by their own names, against the served models; sizes as there. Those about Python itself
// (types of modules) become what they mean for a service.

#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::EmbedRequest;
using client::Part;
using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr config::SeededRows kRows = {.mean = 0.0, .std = 0.02, .seed = 11};

config::ModelConfig Seeded(const std::string& name, std::int64_t vocab_size, std::int64_t dim) {
  return {.name = name, .token = config::SeededTokens{vocab_size, dim, kRows}};
}
config::ModelConfig Learned(const std::string& name, std::int64_t vocab_size, std::int64_t dim, std::int64_t length) {
  config::ModelConfig model = Seeded(name, vocab_size, dim);
  model.position = config::LearnedPositions{config::SeededPositions{length, kRows}};
  return model;
}
config::ModelConfig Sinusoidal(const std::string& name, std::int64_t vocab_size, std::int64_t dim,
                               std::int64_t length) {
  config::ModelConfig model = Seeded(name, vocab_size, dim);
  model.position = config::SinusoidalPositions{.max_context_length = length};
  return model;
}

class Lesson : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    config::ServerConfig config;
    config.models = {Seeded("token", 100, 8),
                     Learned("learned", 100, 16, 64),
                     Learned("learned16", 100, 8, 16),
                     Sinusoidal("sinusoidal", 100, 16, 64),
                     Sinusoidal("sinusoidal8", 100, 8, 16),
                     Sinusoidal("sinusoidal-again", 100, 16, 64),
                     Sinusoidal("sinusoidal64", 320, 64, 128),
                     Learned("composer-learned", 50, 8, 32),
                     Sinusoidal("composer-sinusoidal", 50, 8, 32),
                     {.name = "article",
                      .token = config::SeededTokens{10000, 256, {.std = 1.0, .seed = 11}},
                      .position = config::SinusoidalPositions{.max_context_length = 5000}}};
    served_ = new testing::ServedModels(config);
    client_ = new client::Client(served_->TcpClient());
  }
  static void TearDownTestSuite() {
    delete client_;
    delete served_;
  }

  static absl::StatusOr<client::Embedding> Embed(const std::string& model, std::int64_t batch, std::int64_t tokens,
                                                 Part part = Part::kComposed) {
    EmbedRequest request = {.model = model, .batch_size = batch, .sequence_length = tokens, .part = part};
    for (std::int64_t i = 0; i < batch * tokens && part != Part::kPosition; ++i) request.ids.push_back(i % 50);
    return client_->Embed(request);
  }
  static std::vector<float> Values(const std::string& model, std::int64_t batch, std::int64_t tokens, Part part) {
    const auto result = Embed(model, batch, tokens, part);
    EXPECT_THAT(result, IsOk());
    const auto values = result->As<float>();
    return {values->begin(), values->end()};
  }
  static client::ModelDescription Describe(const std::string& model) {
    return client_->DescribeModel({.model = model}).value();
  }

  static testing::ServedModels* served_;
  static client::Client* client_;
};
testing::ServedModels* Lesson::served_ = nullptr;
client::Client* Lesson::client_ = nullptr;

TEST_F(Lesson, TokenEmbeddingOutputShape) { EXPECT_THAT(Embed("token", 3, 7)->shape(), ElementsAre(3, 7, 8)); }

TEST_F(Lesson, TokenEmbeddingRankTwoRequired) {
  EmbedRequest request = {.model = "token", .ids = {1, 2, 3, 4, 5}};

  EXPECT_THAT(client_->Embed(request), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sequence_length")));
}

TEST_F(Lesson, TokenEmbeddingParameterCount) { EXPECT_EQ(Describe("token").parameter_count, 800); }

TEST_F(Lesson, LearnedOutputShape) {
  EXPECT_THAT(Embed("learned", 1, 10, Part::kPosition)->shape(), ElementsAre(1, 10, 16));
}

TEST_F(Lesson, LearnedParameterCount) { EXPECT_EQ(Describe("learned").tables.at(1).parameter_count, 1024); }

TEST_F(Lesson, LearnedRejectsSequencePastMax) {
  EXPECT_THAT(Embed("learned16", 1, 17), StatusIs(absl::StatusCode::kInvalidArgument,
                                                  HasSubstr("sequence_length 17 exceeds max_context_length 16")));
}

TEST_F(Lesson, LearnedRejectsZeroSequence) {
  EXPECT_THAT(Embed("learned16", 1, 0),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("sequence_length must be >= 1, got 0")));
}

TEST_F(Lesson, SinusoidalOutputShape) {
  EXPECT_THAT(Embed("sinusoidal", 1, 10, Part::kPosition)->shape(), ElementsAre(1, 10, 16));
}

TEST_F(Lesson, SinusoidalZeroParameters) {
  EXPECT_EQ(Describe("sinusoidal").tables.at(1).parameter_count, 0);
  EXPECT_EQ(Describe("sinusoidal").tables.at(1).element_count, 64 * 16);
}

TEST_F(Lesson, SinusoidalOddWidthRejected) {
  config::ServerConfig config;
  config.listen = {"127.0.0.1:0"};
  config.models = {Sinusoidal("odd", 10, 5, 8)};

  EXPECT_THAT(
      app::EmbeddingServer::Start(config),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("embedding_dim must be even for sinusoidal, got 5")));
}

TEST_F(Lesson, SinusoidalFormula) {
  const std::vector<float> rows = Values("sinusoidal8", 1, 4, Part::kPosition);
  for (int p = 0; p < 4; ++p) {
    for (int i = 0; i < 4; ++i) {
      const double angle = p / std::pow(10000.0, 2.0 * i / 8.0);
      EXPECT_NEAR(rows[static_cast<std::size_t>(p * 8 + 2 * i)], std::sin(angle), 5e-6);
      EXPECT_NEAR(rows[static_cast<std::size_t>(p * 8 + 2 * i + 1)], std::cos(angle), 5e-6);
    }
  }
}

TEST_F(Lesson, SinusoidalDeterministicAcrossConstructions) {
  EXPECT_EQ(Values("sinusoidal", 1, 64, Part::kPosition), Values("sinusoidal-again", 1, 64, Part::kPosition));
  EXPECT_EQ(Describe("sinusoidal").checksum, Describe("sinusoidal-again").checksum);
}

TEST_F(Lesson, ComposerLearnedShape) { EXPECT_THAT(Embed("composer-learned", 2, 5)->shape(), ElementsAre(2, 5, 8)); }

TEST_F(Lesson, ComposerSinusoidalShape) {
  EXPECT_THAT(Embed("composer-sinusoidal", 2, 5)->shape(), ElementsAre(2, 5, 8));
}

TEST_F(Lesson, ComposerSumsTokenAndPosition) {
  for (const std::string model : {"composer-learned", "composer-sinusoidal"}) {
    const auto composed = Values(model, 1, 3, Part::kComposed);
    const auto token = Values(model, 1, 3, Part::kToken);
    const auto position = Values(model, 1, 3, Part::kPosition);
    ASSERT_THAT(composed, SizeIs(24));
    for (std::size_t i = 0; i < composed.size(); ++i) EXPECT_EQ(composed[i], token[i] + position[i]);
  }
}

TEST_F(Lesson, ComposerWidthMismatchRejected) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("embd-width-" + std::to_string(getpid()) + ".txt");
  std::ofstream(file) << "a 1 2 3 4 5 6 7 8\n";
  config::ServerConfig config;
  config.listen = {"127.0.0.1:0"};
  config.models = {Seeded("narrow", 10, 4)};
  config.models[0].position = config::LearnedPositions{config::TableFile{.path = file.string()}};

  EXPECT_THAT(app::EmbeddingServer::Start(config),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("token and position tables must share embedding_dim (4 vs 8)")));
  std::filesystem::remove(file);
}

TEST_F(Lesson, NeighbourCurveLength) {
  EXPECT_THAT(client_->NeighbourSimilarity({.model = "learned", .max_offset = 5})->mean_cosine, SizeIs(5));
}

TEST_F(Lesson, SinusoidalCurveDecays) {
  const auto curve = client_->NeighbourSimilarity({.model = "sinusoidal64", .max_offset = 6});

  ASSERT_THAT(curve, IsOk());
  EXPECT_GT(curve->mean_cosine[0], curve->mean_cosine[5]);
}

TEST_F(Lesson, SinusoidalCurveHasTheGoldenNumbersAndIsMonotoneInFourOfFiveSteps) {
  const auto curve = client_->NeighbourSimilarity({.model = "sinusoidal64", .max_offset = 8});
  const double golden[] = {0.966151, 0.884496, 0.799595, 0.747949, 0.734499, 0.736231, 0.727010, 0.700435};

  ASSERT_THAT(curve, IsOk());
  for (std::size_t k = 0; k < 8; ++k) {
    EXPECT_NEAR(curve->mean_cosine[k], golden[k], 1e-6);
    EXPECT_NEAR(curve->closed_form[k], golden[k], 1e-6);
  }
  EXPECT_EQ(client_->NeighbourSimilarity({.model = "sinusoidal64", .max_offset = 6})->monotone_steps, 4);
}

// The article's two modules: a table of 10000 rows with std 1, and positions that are added to vectors it is given.
TEST_F(Lesson, ArticlesSevenTokensBecomeSevenVectorsOf256) {
  const EmbedRequest request = {.model = "article",
                                .ids = {101, 102, 103, 104, 105, 106, 107},
                                .batch_size = 1,
                                .sequence_length = 7,
                                .part = Part::kToken};

  const auto result = client_->Embed(request);

  ASSERT_THAT(result, IsOk());
  EXPECT_THAT(result->shape(), ElementsAre(1, 7, 256));
  double squares = 0;
  const std::span<const float> values = result->As<float>().value();
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  EXPECT_NEAR(squares / static_cast<double>(values.size()), 1.0, 0.15) << "four standard errors";
}

TEST_F(Lesson, ArticlesModuleAddsPositionsToGivenVectors) {
  const std::vector<float> given(2 * 3 * 256, 0.5f);
  const auto bytes = std::as_bytes(std::span(given));
  EmbedRequest request = {.model = "article", .batch_size = 2, .sequence_length = 3};
  request.inputs_embeds = client::InputTensor{
      .data_type = client::DataType::kFloat32, .shape = {2, 3, 256}, .bytes = {bytes.begin(), bytes.end()}};

  const auto result = client_->Embed(request);

  ASSERT_THAT(result, IsOk());
  const std::span<const float> values = result->As<float>().value();
  ASSERT_EQ(values.size(), given.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto p = static_cast<double>(i / 256 % 3);
    const std::size_t d = i % 256;
    const double angle = p * std::exp(-static_cast<double>(d / 2 * 2) * std::log(10000.0) / 256);
    EXPECT_NEAR(values[i], 0.5 + (d % 2 == 0 ? std::sin(angle) : std::cos(angle)), 1e-6) << i;
  }
}

TEST_F(Lesson, DemoModelsHaveTheDemosParameterCounts) {
  config::ServerConfig config;
  config.models = {Learned("l", 320, 64, 128), Sinusoidal("s", 320, 64, 128)};
  const testing::ServedModels served(config);
  const client::Client client = served.TcpClient();

  EXPECT_EQ(client.DescribeModel({.model = "l"})->tables.at(0).parameter_count, 20480);
  EXPECT_EQ(client.DescribeModel({.model = "l"})->tables.at(1).parameter_count, 8192);
  EXPECT_EQ(client.DescribeModel({.model = "s"})->tables.at(1).parameter_count, 0);
}

}  // namespace
}  // namespace embd
