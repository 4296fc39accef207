#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "client/cli/files/tensor_file.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/cli/command_runner.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::CommandRunner;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Result;

class GradientCommand : public ::testing::Test {
 protected:
  ~GradientCommand() override { fs::remove(path_); }

  CommandRunner runner_;
  const std::string path_ = (fs::path(::testing::TempDir()) / "cli_gradient_rows.npy").string();
};

TEST_F(GradientCommand, PrintsTheRowsThatHaveAGradient) {
  const Result result = runner_.Run({"gradient", "tiny", "--ids", "1 2; 1 0"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "token: 3 of 3 rows have a gradient\n"
            "row  cells     norm\n"
            "  0      1  1.41421\n"
            "  1      2  2.82843\n"
            "  2      1  1.41421\n"
            "position: 2 of 4 rows have a gradient\n"
            "row  cells     norm\n"
            "  0      2  2.82843\n"
            "  1      2  2.82843\n");
}

TEST_F(GradientCommand, TakesAGradientAndPrintsJson) {
  const Result result =
      runner_.Run({"gradient", "tiny", "--ids", "1 1", "--gradient-file", "-", "--tables", "token", "--output", "json"},
                  "[[1, 2], [2, 2]]");

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(json::parse(result.out), json::parse(R"({"model": "tiny", "model_version": "1", "tables": [
      {"table": "token", "trainable": true, "table_rows": 3, "touched_rows": 1, "row_ids": [1], "counts": [2],
       "row_norms": [5.0]}]})"));
}

TEST_F(GradientCommand, WritesTheRowsOfOneTable) {
  const Result result =
      runner_.Run({"gradient", "tiny", "--ids", "2 1 2", "--part", "token", "--tables", "token", "--out", path_});

  ASSERT_EQ(result.code, 0) << result.err;
  std::istringstream nothing;
  EXPECT_EQ(ReadTensor(path_, FileFormat::kNpy, nothing).value(), Floats({2, 2}, {1, 1, 2, 2}));
  EXPECT_EQ(runner_.Run({"gradient", "tiny", "--ids", "1", "--out", path_}).err,
            "embdctl: --out takes one table; name it with --tables\n");
}

TEST_F(GradientCommand, RaggedRowsAndWordsAreBatchesToo) {
  EXPECT_THAT(runner_.Run({"gradient", "tiny", "--ids", "1;; 1 2", "--ragged", "packed", "--tables", "token"}).out,
              HasSubstr("  1      2  2.82843\n  2      1  1.41421\n"));
  EXPECT_THAT(runner_.Run({"gradient", "tiny", "--tokens", "queen", "--tables", "token"}).out,
              HasSubstr("  1      1  1.41421\n"));
}

// Scores of token rows (0, 1), (2, 3), (4, 5) with (0, 0) are equal.
TEST_F(GradientCommand, OutputSideTouchesAllRows) {
  const Result result =
      runner_.Run({"gradient", "tiny", "--output-side", "--targets", "1", "--hidden", "-"}, "[[0, 0]]");

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "loss 1.09861\n"
            "token: 3 of 3 rows have a gradient\n"
            "row  norm\n"
            "  0     0\n"
            "  1     0\n"
            "  2     0\n");
  EXPECT_EQ(runner_.Run({"gradient", "tiny", "--output-side", "--targets", "1"}).err,
            "embdctl: --output-side needs --targets and --hidden\n");
  EXPECT_EQ(runner_.Run({"gradient", "tiny", "--output-side", "--part", "token"}).code, 2);
}

TEST_F(GradientCommand, TellsWhatTheServerRefused) {
  const Result result = runner_.Run({"gradient", "plain", "--ids", "1", "--tables", "position"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("FAILED_PRECONDITION (NO_SUCH_TABLE)"));
}

}  // namespace
}  // namespace embd::cli
