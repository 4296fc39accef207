#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/table/checksum.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::PositionEncoding;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Three models: learned, sinusoidal, and words from a text file.
class Diagnostics : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    words_ = std::filesystem::temp_directory_path() / ("embd-words-" + std::to_string(getpid()) + ".txt");
    std::ofstream(words_) << "king 1 2\nqueen 3 4\nK\xc3\xb6nig 5 6\n";
    config::ServerConfig config;
    config.models = {testing::SmallModel("learned", 10, 4, 8),
                     testing::SmallModel("sinusoidal", 10, 4, 0),
                     {.name = "words", .token = config::TableFile{.path = words_.string()}}};
    config.models[1].position = config::SinusoidalPositions{.max_context_length = 32, .base = 100.0};
    config.limits.max_batch_size = 77;
    config.limits.max_bytes_in_flight = 5'000'000;
    served_ = new testing::ServedModels(config);
    client_ = new client::Client(served_->TcpClient());
  }
  static void TearDownTestSuite() {
    delete client_;
    delete served_;
    std::filesystem::remove(words_);
  }

  static std::filesystem::path words_;
  static testing::ServedModels* served_;
  static client::Client* client_;
};
std::filesystem::path Diagnostics::words_;
testing::ServedModels* Diagnostics::served_ = nullptr;
client::Client* Diagnostics::client_ = nullptr;

TEST_F(Diagnostics, ModelsAreListedInOrderOfName) {
  const auto models = client_->ListModels();

  ASSERT_THAT(models, IsOk());
  ASSERT_THAT(*models, SizeIs(3));
  EXPECT_EQ(models->at(0).name, "learned");
  EXPECT_EQ(models->at(1).name, "sinusoidal");
  EXPECT_EQ(models->at(2).name, "words");
  EXPECT_EQ(models->at(0).vocab_size, 10);
  EXPECT_EQ(models->at(0).embedding_dim, 4);
  EXPECT_EQ(models->at(0).max_context_length, 8);
  EXPECT_EQ(models->at(0).byte_size, (10 + 8) * 4 * 4);
  EXPECT_EQ(models->at(0).parameter_count, (10 + 8) * 4);
  EXPECT_EQ(models->at(1).parameter_count, 10 * 4);
  EXPECT_EQ(models->at(2).max_context_length, std::nullopt);
}

TEST_F(Diagnostics, DescriptionHasTablesCountsAndChecksums) {
  const auto model = client_->DescribeModel({.model = "words"});

  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(model->position_encoding, PositionEncoding::kNone);
  EXPECT_EQ(model->vocabulary_words, 3);
  ASSERT_THAT(model->tables, SizeIs(1));
  const float values[] = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(model->tables[0].checksum, core::Sha256Hex(std::as_bytes(std::span(values))));
  EXPECT_THAT(model->tables[0].shape, ElementsAre(3, 2));
  EXPECT_EQ(model->tables[0].source, words_.string());
  const std::string line = "token float32 3x2 " + model->tables[0].checksum + "\n";
  EXPECT_EQ(model->checksum, core::Sha256Hex(std::as_bytes(std::span(line))));
}

TEST_F(Diagnostics, SinusoidalDescriptionNamesItsBase) {
  const auto model = client_->DescribeModel({.model = "sinusoidal"});

  ASSERT_THAT(model, IsOk());
  EXPECT_EQ(model->sinusoidal_base, 100.0);
  EXPECT_EQ(model->tables.at(1).parameter_count, 0);
  EXPECT_EQ(model->tables.at(1).source, "sinusoidal: interleaved, base 100");
}

TEST_F(Diagnostics, UnknownModelIsNotFoundByEveryCall) {
  const auto matcher =
      AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("there is no model \"x\"")), ReasonIs("MODEL_NOT_FOUND"));
  EXPECT_THAT(client_->DescribeModel({.model = "x"}), matcher);
  EXPECT_THAT(client_->NeighbourSimilarity({.model = "x"}), matcher);
  EXPECT_THAT(client_->LookUpTokens({.model = "x", .tokens = {"king"}}), matcher);
}

TEST_F(Diagnostics, WordsBecomeIds) {
  EXPECT_THAT(client_->LookUpTokens({.model = "words", .tokens = {"queen", "K\xc3\xb6nig", "king", "queen"}})->ids,
              ElementsAre(1, 2, 0, 1));
}

TEST_F(Diagnostics, WordThatIsNotThereIsNamed) {
  EXPECT_THAT(client_->LookUpTokens({.model = "words", .tokens = {"king", "kong"}}),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             "tokens[1] = \"kong\" is not in the vocabulary of model \"words\", which has 3 words"),
                    ReasonIs("UNKNOWN_TOKEN")));
}

TEST_F(Diagnostics, ModelWithoutVocabularySaysSo) {
  EXPECT_THAT(client_->LookUpTokens({.model = "learned", .tokens = {"king"}}),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("has no vocabulary")),
                    ReasonIs("NO_VOCABULARY")));
}

TEST_F(Diagnostics, SimilarityOfTokensIsTheCosine) {
  const auto curve =
      client_->NeighbourSimilarity({.model = "words", .table = client::TableKind::kToken, .max_offset = 2});

  ASSERT_THAT(curve, IsOk());
  EXPECT_EQ(curve->rows, 3);
  EXPECT_NEAR(curve->mean_cosine[1], 17.0 / std::sqrt(5.0 * 61.0), 1e-12);
  EXPECT_THAT(curve->closed_form, ElementsAre());
}

TEST_F(Diagnostics, SimilarityRefusesWhatTheLessonRefuses) {
  EXPECT_THAT(client_->NeighbourSimilarity({.model = "learned", .max_offset = 8}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_offset 8 must be < number of rows 8")));
  EXPECT_THAT(client_->NeighbourSimilarity({.model = "learned", .max_offset = -1}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("max_offset must be >= 1, got -1")));
  EXPECT_THAT(client_->NeighbourSimilarity({.model = "words"}),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no position table")),
                    ReasonIs("NO_POSITION_TABLE")));
  EXPECT_THAT(
      client_->NeighbourSimilarity({.model = "words", .table = client::TableKind::kOutput}),
      AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no table of kind")), ReasonIs("NO_SUCH_TABLE")));
}

// More curves than there are workers, each of which would take far longer than its deadline.
TEST(DiagnosticsThread, LargeEmbedsDoNotWaitForSimilarity) {
  config::ServerConfig config;
  config.models = {testing::SmallModel("long", 300'000, 64, 0)};
  const testing::ServedModels served(config);
  const client::Client client = served.TcpClient();
  const client::EmbedRequest large = {
      .model = "long", .ids = std::vector<std::int64_t>(4096, 1), .batch_size = 1, .sequence_length = 4096};
  std::atomic<int> ended = 0;
  std::vector<std::thread> callers;
  for (unsigned i = 0; i < std::max(2u, std::thread::hardware_concurrency()) + 2; ++i) {
    callers.emplace_back([&] {
      const auto curve = client.NeighbourSimilarity(
          {.model = "long", .table = client::TableKind::kToken, .max_offset = 4096}, {.timeout = absl::Seconds(5)});
      ++ended;
      EXPECT_THAT(curve, StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
    });
  }

  for (int i = 0; i < 50; ++i) EXPECT_THAT(client.Embed(large), IsOk());

  EXPECT_EQ(ended.load(), 0) << "the Embeds were done first";
  for (std::thread& caller : callers) caller.join();
}

TEST_F(Diagnostics, ServerInfoTellsTheLimitsThatAreInForce) {
  const auto info = client_->GetServerInfo();

  ASSERT_THAT(info, IsOk());
  EXPECT_EQ(info->limits.max_batch_size, 77);
  EXPECT_EQ(info->limits.max_bytes_in_flight, 5'000'000);
  EXPECT_EQ(info->limits.max_request_bytes, 64 << 20);
  EXPECT_EQ(info->limits.max_response_bytes, 1 << 30);
  EXPECT_EQ(info->limits.max_sequence_length, 1048576);
  EXPECT_THAT(info->capabilities, Contains("embed_stream"));
  EXPECT_FALSE(info->simd_target.empty());
}

TEST_F(Diagnostics, HealthKnowsServerServicesAndModels) {
  for (const char* const name : {"", "embd.v1.EmbeddingService", "embd.v1.DiagnosticsService", "words"}) {
    EXPECT_EQ(client_->CheckHealth(name).value(), client::HealthStatus::kServing) << name;
  }
  EXPECT_THAT(client_->CheckHealth("nobody"), StatusIs(absl::StatusCode::kNotFound, ::testing::_));
}

}  // namespace
}  // namespace embd
