#include <limits>
#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using testing::CommandRunner;
using ::testing::HasSubstr;
using testing::Result;

class ModelCommands : public ::testing::Test {
 protected:
  ModelCommands() {
    runner_.fake->SetServerInfo({.version = "1.2.3",
                                 .build = "gcc Release",
                                 .api_revision = 4,
                                 .capabilities = {"embed_stream", "oip"},
                                 .simd_target = "AVX2",
                                 .limits = {.max_request_bytes = 1,
                                            .max_response_bytes = 2,
                                            .max_batch_size = 3,
                                            .max_sequence_length = 4,
                                            .max_bytes_in_flight = 5}});
  }
  CommandRunner runner_;
};

TEST_F(ModelCommands, InfoPrintsAFieldALine) {
  const Result result = runner_.Run({"info"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "version              1.2.3\n"
            "build                gcc Release\n"
            "api revision         4\n"
            "capabilities         embed_stream, oip\n"
            "simd target          AVX2\n"
            "max request bytes    1\n"
            "max response bytes   2\n"
            "max batch size       3\n"
            "max sequence length  4\n"
            "max bytes in flight  5\n");
}

TEST_F(ModelCommands, InfoPrintsJson) {
  const json info = json::parse(runner_.Run({"info", "--output", "json"}).out);

  EXPECT_EQ(info["version"], "1.2.3");
  EXPECT_EQ(info["capabilities"], json({"embed_stream", "oip"}));
  EXPECT_EQ(info["limits"]["max_bytes_in_flight"], 5);
}

TEST_F(ModelCommands, ModelsPrintsATable) {
  const Result result = runner_.Run({"models"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "model  positions  vocab  dim  context  type     parameters  bytes  version  generation\n"
            "plain  none           3    2        -  float32           6     24  1                 1\n"
            "tiny   learned        3    2        4  float32          14     56  1                 1\n");
}

TEST_F(ModelCommands, ModelsPrintsJsonWithNullForWhatIsNotThere) {
  const json models = json::parse(runner_.Run({"models", "--output", "json"}).out);

  ASSERT_EQ(models.size(), 2u);
  EXPECT_EQ(models[0]["name"], "plain");
  EXPECT_TRUE(models[0]["max_context_length"].is_null());
  EXPECT_EQ(models[1]["max_context_length"], 4);
  EXPECT_EQ(models[1]["position_encoding"], "learned");
}

TEST_F(ModelCommands, DescribePrintsFieldsAndTables) {
  const Result result = runner_.Run({"describe", "tiny"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "model               tiny\n"
            "version             1, generation 1\n"
            "positions           learned\n"
            "vocab size          3\n"
            "embedding dim       2\n"
            "max context length  4\n"
            "parameters          14\n"
            "vocabulary          3 words\n"
            "checksum            fake\n"
            "numbering           sequential\n"
            "output projection   token table\n"
            "\n"
            "table     shape   type     elements  parameters  bytes  checksum  source\n"
            "token     (3, 2)  float32         6           6     24  fake      fake\n"
            "position  (4, 2)  float32         8           8     32  fake      fake\n");
}

TEST_F(ModelCommands, DescribePrintsJson) {
  const json model = json::parse(runner_.Run({"describe", "tiny", "--output", "json"}).out);

  EXPECT_EQ(model["vocab_size"], 3);
  EXPECT_EQ(model["vocabulary_words"], 3);
  EXPECT_TRUE(model["rotary"].is_null());
  EXPECT_EQ(model["tables"][1]["kind"], "position");
  EXPECT_EQ(model["tables"][1]["shape"], json({4, 2}));
}

TEST_F(ModelCommands, SimilarityPrintsTheCurve) {
  runner_.fake->AddModel({.name = "turn", .embedding_dim = 2, .token = {1, 1}, .position = {1, 0, 0, 1, -1, 0}});

  const Result result = runner_.Run({"similarity", "turn", "--max-offset", "2"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "cosine of row p and row p + k of the position table, 3 rows\n"
            "k     mean      min      max\n"
            "1  +0.0000  +0.0000  +0.0000\n"
            "2  -1.0000  -1.0000  -1.0000\n"
            "monotone steps: 1/1\n");
}

TEST_F(ModelCommands, SimilarityPrintsJsonOfTheTableAskedFor) {
  const json curve = json::parse(runner_.Run({"similarity", "plain", "--table", "token", "--output", "json"}).out);

  EXPECT_EQ(curve["table"], "token");
  EXPECT_EQ(curve["rows"], 3);
  EXPECT_EQ(curve["mean_cosine"].size(), 2u);
}

TEST_F(ModelCommands, PrintsSimilaritiesThatAreNoNumbersAsEmbedDoes) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  runner_.fake->AddModel({.name = "broken", .embedding_dim = 1, .token = {1, nan, 1}});

  const Result result = runner_.Run({"similarity", "broken", "--table", "token", "--output", "json"});

  EXPECT_THAT(result.out, HasSubstr("\"mean_cosine\": [\n    NaN,"));
}

TEST_F(ModelCommands, SimilarityOfAMissingTableIsRefused) {
  const Result result = runner_.Run({"similarity", "plain"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("FAILED_PRECONDITION (NO_POSITION_TABLE): "));
}

}  // namespace
}  // namespace embd::cli
