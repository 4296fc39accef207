#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using testing::CommandRunner;
using ::testing::HasSubstr;
using testing::Result;

// The rows of tiny are (0, 1), (2, 3) and (4, 5).
constexpr char kVectors[] = "[[1, 0], [-1, 0]]";

TEST(ProjectCommand, PrintsTheBestIdsOfEachVector) {
  CommandRunner runner;

  const Result result = runner.Run({"project", "tiny", "--vectors", "-", "-k", "2", "--tokens"}, kVectors);

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "vector  id  token  score\n"
            "     0   2  man        4\n"
            "     0   1  queen      2\n"
            "     1   0  king       0\n"
            "     1   1  queen     -2\n");
}

TEST(ProjectCommand, PrintsJsonWithAListAVector) {
  CommandRunner runner;

  const Result result = runner.Run(
      {"project", "tiny", "--vectors", "-", "--candidates", "1 0", "--scale", "0.5", "--tokens", "--output", "json"},
      kVectors);

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out),
            json({{"model", "tiny"},
                  {"model_version", "1"},
                  {"tied", true},
                  {"ids", {{1, 0}, {1, 0}}},
                  {"tokens", json::array({json::array({"queen", "king"}), json::array({"queen", "king"})})},
                  {"scores", {{1.0, 0.0}, {-1.0, 0.0}}}}));
}

TEST(ProjectCommand, PrintsLogProbabilities) {
  CommandRunner runner;

  const Result text = runner.Run({"project", "plain", "--vectors", "-", "-k", "1", "--log-probabilities"}, "[0, 0]");
  const Result value = runner.Run(
      {"project", "plain", "--vectors", "-", "-k", "1", "--log-probabilities", "--output", "json"}, "[0, 0]");

  EXPECT_EQ(text.out, "vector  id  log probability\n     0   0         -1.09861\n");
  EXPECT_NEAR(json::parse(value.out)["log_sum_exp"][0].get<double>(), 1.0986123, 1e-6);
  EXPECT_NEAR(json::parse(value.out)["log_probabilities"][0][0].get<double>(), -1.0986123, 1e-6);
}

TEST(ProjectCommand, TellsTheServersRefusals) {
  CommandRunner runner;
  runner.fake->AddModel({.name = "untied", .embedding_dim = 1, .token = {3}, .output_tied = false});

  const Result refused = runner.Run({"project", "untied", "--vectors", "-"}, "[2]");
  const Result raw = runner.Run({"project", "untied", "--vectors", "-", "--raw"}, "[2]");

  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("NOT_TIED"));
  EXPECT_EQ(raw.out, "vector  id  score\n     0   0      6\n");
}

TEST(ProjectCommand, RefusesWhatExcludesEachOther) {
  CommandRunner runner;

  for (const auto& [flag, value] :
       {std::pair("--raw", "--scale=2"), std::pair("--raw", "--softcap=2"), std::pair("-k1", "--candidates=1")}) {
    const Result result = runner.Run({"project", "tiny", "--vectors", "-", flag, value}, kVectors);

    EXPECT_EQ(result.code, 2) << value;
    EXPECT_THAT(result.err, HasSubstr("excludes")) << value;
  }
}

TEST(ProjectCommand, RefusesAFileWithoutVectors) {
  CommandRunner runner;

  const Result result = runner.Run({"project", "tiny", "--vectors", "/dev/null", "--vectors-format", "csv"});

  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("/dev/null"));
}

}  // namespace
}  // namespace embd::cli
