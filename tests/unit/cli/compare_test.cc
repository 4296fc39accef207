#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandRunner;
using ::testing::HasSubstr;
using testing::Result;

constexpr std::int64_t kVocab = 320;
constexpr std::int64_t kDim = 64;
constexpr std::int64_t kContext = 128;

std::vector<float> Sinusoids() {
  std::vector<float> table;
  for (std::int64_t p = 0; p < kContext; ++p) {
    for (std::int64_t i = 0; i < kDim / 2; ++i) {
      const double angle = static_cast<double>(p) / std::pow(10000.0, 2.0 * static_cast<double>(i) / kDim);
      table.push_back(static_cast<float>(std::sin(angle)));
      table.push_back(static_cast<float>(std::cos(angle)));
    }
  }
  return table;
}

class CompareCommand : public ::testing::Test {
 protected:
  CompareCommand() {
    const std::vector<float> token(kVocab * kDim, 0.5f);
    runner_.fake->AddModel({.name = "trained",
                            .embedding_dim = kDim,
                            .token = token,
                            .position = std::vector<float>(kContext * kDim, 0.25f)});
    runner_.fake->AddModel({.name = "waves",
                            .embedding_dim = kDim,
                            .token = token,
                            .position = Sinusoids(),
                            .position_encoding = client::PositionEncoding::kSinusoidal});
  }
  CommandRunner runner_;
};

TEST_F(CompareCommand, ShowsTheShapesOfRealCalls) {
  const Result result = runner_.Run({"compare", "trained", "waves"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("== Shapes of 4 x 32 ids, drawn from seed 11\n"
                                    "model    token part   composed\n"
                                    "trained  (4, 32, 64)  (4, 32, 64)\n"
                                    "waves    (4, 32, 64)  (4, 32, 64)\n"));
}

TEST_F(CompareCommand, CountsTrainableParameters) {
  EXPECT_THAT(runner_.Run({"compare", "trained", "waves"}).out,
              HasSubstr("model    table                 parameters\n"
                        "trained  token table                20480\n"
                        "trained  learned positions           8192\n"
                        "waves    token table                20480\n"
                        "waves    sinusoidal positions           0  (parameter-free)\n"));
}

TEST_F(CompareCommand, PutsNeighbourCurvesSideBySide) {
  EXPECT_THAT(runner_.Run({"compare", "trained", "waves"}).out, HasSubstr("k  trained    waves\n"
                                                                          "1  +1.0000  +0.9662\n"
                                                                          "2  +1.0000  +0.8845\n"
                                                                          "3  +1.0000  +0.7996\n"
                                                                          "4  +1.0000  +0.7479\n"
                                                                          "5  +1.0000  +0.7345\n"
                                                                          "6  +1.0000  +0.7362\n"
                                                                          "trained monotone steps: 5/5\n"
                                                                          "waves monotone steps: 4/5\n"));
}

TEST_F(CompareCommand, GoesOnePastTheLastPositionAndShowsTheServersText) {
  EXPECT_THAT(runner_.Run({"compare", "trained", "waves"}).out, AllOf(HasSubstr("trained at length 64: ok\n"
                                                                                "trained at length 128: ok\n"
                                                                                "trained at length 129: refused\n"
                                                                                "  caught: "),
                                                                      HasSubstr("waves at length 129: refused\n")));
}

TEST_F(CompareCommand, MarksWhatAModelDoesNotHave) {
  const Result result = runner_.Run({"compare", "tiny", "plain", "--tokens", "3"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("plain  none positions              -  (no position table)\n"),
                                HasSubstr("plain has no position table to compare rows of\n"),
                                HasSubstr("plain has no position table that could end\n"),
                                HasSubstr("tiny at length 4: ok\n"), HasSubstr("tiny at length 5: refused\n")));
}

TEST_F(CompareCommand, PrintsJson) {
  const json result = json::parse(runner_.Run({"compare", "trained", "waves", "--output", "json"}).out);

  EXPECT_EQ(result["seed"], 11);
  EXPECT_EQ(result["models"][0]["token_shape"], json({4, 32, 64}));
  EXPECT_EQ(result["models"][1]["tables"][1], json({{"kind", "position"}, {"parameter_count", 0}}));
  EXPECT_EQ(result["models"][1]["neighbour_similarity"]["monotone_steps"], 4);
  EXPECT_NEAR(result["models"][1]["neighbour_similarity"]["mean_cosine"][0].get<double>(), 0.966151, 1e-6);
  EXPECT_EQ(result["models"][1]["lengths"][1], json({{"sequence_length", 128}, {"ok", true}}));
  EXPECT_EQ(result["models"][1]["lengths"][2]["ok"], false);
}

TEST_F(CompareCommand, DrawsTheSameIdsFromTheSameSeedForBothModels) {
  runner_.Run({"compare", "trained", "waves", "--seed", "5"});
  const std::vector<client::EmbedRequest> first = runner_.fake->embed_requests();
  runner_.Run({"compare", "trained", "waves", "--seed", "6"});
  const std::vector<client::EmbedRequest> all = runner_.fake->embed_requests();

  EXPECT_EQ(first[0].model, "trained");
  EXPECT_EQ(first[5].model, "waves");
  EXPECT_EQ(first[0].ids, first[5].ids);
  EXPECT_NE(first[0].ids, all[first.size()].ids);
}

TEST_F(CompareCommand, EndsWith1ForAnUnknownModel) {
  const Result result = runner_.Run({"compare", "trained", "none"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("NOT_FOUND (MODEL_NOT_FOUND)"));
}

TEST_F(CompareCommand, RefusesMoreIdsARowThanThereArePositions) {
  const Result result = runner_.Run({"compare", "trained", "waves", "--tokens", "129"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("(SEQUENCE_TOO_LONG): with --batch 4 and --tokens 129: "));
}

TEST_F(CompareCommand, TakesNoMoreIdsARowThanBothModelsHavePositions) {
  const Result result = runner_.Run({"compare", "tiny", "trained", "--output", "json"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(json::parse(result.out)["sequence_length"], 4);
}

TEST_F(CompareCommand, RecordsLengthsThatExceedTheServersLimits) {
  runner_.fake->SetServerInfo({.limits = {.max_response_bytes = 128 * kDim * 2, .max_sequence_length = 128}});

  const Result result = runner_.Run({"compare", "trained", "waves", "--batch", "1"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("trained at length 128: ok\n"),
                                HasSubstr("trained at length 129: refused\n  caught: sequence_length 129 exceeds")));
}

TEST_F(CompareCommand, RecordsReadableLengthsWhoseReplyIsTooLarge) {
  runner_.fake->SetServerInfo({.limits = {.max_response_bytes = 127 * kDim * 2}});

  const json result = json::parse(runner_.Run({"compare", "trained", "waves", "--batch", "1", "--output", "json"}).out);

  EXPECT_EQ(result["models"][0]["lengths"][0]["ok"], true);
  EXPECT_EQ(result["models"][0]["lengths"][1]["reason"], "RESPONSE_TOO_LARGE");
}

TEST_F(CompareCommand, DoesNotTryMorePositionsThanItWouldSend) {
  runner_.fake->AddModel({.name = "endless",
                          .embedding_dim = 1,
                          .token = {0},
                          .position = std::vector<float>((std::size_t{1} << 24) + 1)});
  runner_.fake->SetServerInfo({});

  const Result result = runner_.Run({"compare", "endless", "tiny"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("endless at length 64: ok\n"),
                                HasSubstr("endless at length 16777217: not tried, which stops at 16777216\n")));
}

TEST_F(CompareCommand, SaysThatAPositionTableOfOneRowHasNoNeighbours) {
  runner_.fake->AddModel({.name = "single", .embedding_dim = 1, .token = {0}, .position = {1}});

  EXPECT_THAT(runner_.Run({"compare", "single", "trained"}).out, HasSubstr("single: its position table has one row\n"));
}

}  // namespace
}  // namespace embd::cli
