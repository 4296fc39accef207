#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using testing::CommandRunner;
using ::testing::HasSubstr;
using testing::Result;

// Four words: east and south turn away from north, north-2 lies behind it.
class NearestCommands : public ::testing::Test {
 protected:
  NearestCommands() {
    runner_.fake->AddModel({.name = "compass",
                            .embedding_dim = 2,
                            .token = {0, 1, 1, 0, 0, -1, 0, 2},
                            .vocabulary = {"north", "east", "south", "north\n2"}});
  }

  CommandRunner runner_;
};

TEST_F(NearestCommands, NearestOfAWordListsIdsScoresAndWords) {
  const Result result = runner_.Run({"nearest", "compass", "--token", "north", "-k", "2"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "nearest to north in the token table\n"
            "id    cosine  token\n"
            " 3  1.000000  north\\n2\n"
            " 1  0.000000  east\n");
}

TEST_F(NearestCommands, NearestOfAnIdOfATableWithoutWordsHasNone) {
  const Result result =
      runner_.Run({"nearest", "tiny", "--table", "position", "--id", "1", "--metric", "l2", "-k", "1"});

  EXPECT_EQ(result.out,
            "nearest to 1 in the position table\n"
            "id         l2\n"
            " 0  14.142136\n");
}

TEST_F(NearestCommands, NearestOfSeveralIsOneJsonValue) {
  const json result = json::parse(runner_
                                      .Run({"nearest", "compass", "--id", "0", "--id", "1", "--metric", "dot", "-k",
                                            "1", "--include-queries", "--output", "json"})
                                      .out);

  EXPECT_EQ(result["metric"], "dot");
  EXPECT_EQ(result["queries"], json::parse(R"([
    {"query": "0", "rows": [{"id": 3, "score": 2.0, "token": "north\n2"}]},
    {"query": "1", "rows": [{"id": 1, "score": 1.0, "token": "east"}]}])"));
}

TEST_F(NearestCommands, NearestOfVectorsFromStandardInput) {
  const json result = json::parse(
      runner_.Run({"nearest", "plain", "--vector-file", "-", "-k", "1", "--output", "json"}, "[[0, 3], [1, 0.99]]")
          .out);

  EXPECT_EQ(result["queries"][0]["query"], "vector 0");
  EXPECT_EQ(result["queries"][0]["rows"][0]["id"], 0);
  EXPECT_EQ(result["queries"][1]["rows"][0]["id"], 2);
  EXPECT_FALSE(result["queries"][0]["rows"][0].contains("token"));
}

TEST_F(NearestCommands, AnalogyAddsAndTakesAway) {
  const Result result = runner_.Run({"analogy", "compass", "north", "+", "east", "-", "north", "--metric", "dot"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "nearest to north + east - north in the token table\n"
            "id       dot  token\n"
            " 2  0.000000  south\n"
            " 3  0.000000  north\\n2\n");
}

TEST_F(NearestCommands, SimilarTellsCosineDotAndDistance) {
  EXPECT_EQ(runner_.Run({"similar", "compass", "north", "south"}).out,
            "cosine    -1.000000\n"
            "dot       -1.000000\n"
            "distance  2.000000\n");
  const json result = json::parse(runner_.Run({"similar", "plain", "1", "2", "--ids", "--output", "json"}).out);
  EXPECT_EQ(result["ids"], json({1, 2}));
  EXPECT_EQ(result["dot"], 23.0);
  EXPECT_NEAR(result["cosine"].get<double>(), 23.0 / std::sqrt(13.0 * 41.0), 1e-15);
  EXPECT_NEAR(result["distance"].get<double>(), std::sqrt(8.0), 1e-15);
}

TEST_F(NearestCommands, SimilarComparesRowsAsTheyAreStored) {
  runner_.fake->AddModel({.name = "scaled", .embedding_dim = 1, .token = {2, 3}, .token_scale = 4});

  EXPECT_THAT(runner_.Run({"similar", "scaled", "0", "1", "--ids"}).out, HasSubstr("dot       6.000000\n"));
}

TEST_F(NearestCommands, WrongUsageIsSaidBeforeAnythingIsAsked) {
  const std::pair<std::vector<std::string>, std::string> wrong[] = {
      {{"nearest", "compass"}, "--vector-file"},
      {{"nearest", "compass", "--id", "1", "--token", "east"}, "--vector-file"},
      {{"nearest", "compass", "--id", "one"}, "--id"},
      {{"nearest", "compass", "--id", "1", "-k", "0"}, "-k"},
      {{"nearest", "compass", "--id", "1", "--metric", "l1"}, "--metric"},
      {{"nearest", "compass", "--vector-file", "none.npy"}, "none.npy"},
      {{"analogy", "compass", "north", "east"}, "between words stands + or -, not \"east\""},
      {{"analogy", "compass", "north", "-"}, "no word after the last + or -"},
      {{"similar", "compass", "north"}, "W2"},
      {{"similar", "compass", "north", "east", "--ids"}, "\"north\" is not a whole number"}};
  for (const auto& [arguments, message] : wrong) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Result result = runner_.Run(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
  }
  EXPECT_EQ(runner_.fake->calls("NearestTokens"), 0);
}

TEST_F(NearestCommands, RefusalsEndWith1) {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"nearest", "compass", "--token", "west"},
                                                    {"nearest", "compass", "--id", "4"},
                                                    {"analogy", "plain", "north"},
                                                    {"similar", "compass", "north", "west"},
                                                    {"similar", "compass", "0", "4", "--ids"}}) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    EXPECT_EQ(runner_.Run(arguments).code, 1);
  }
}

}  // namespace
}  // namespace embd::cli
