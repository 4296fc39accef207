#include <limits>
#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandRunner;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Result;

class StatsCommand : public ::testing::Test {
 protected:
  StatsCommand() {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinity = std::numeric_limits<float>::infinity();
    runner_.fake->AddModel(
        {.name = "ill", .embedding_dim = 2, .token = {3, 4, 0, 0, 3, 4, nan, 1, 0, 0, 1, infinity, 3, 4}});
  }
  CommandRunner runner_;
};

TEST_F(StatsCommand, PrintsFiguresHistogramAndThatNothingIsWrong) {
  const Result result = runner_.Run({"stats", "tiny", "--bins", "2"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "model       tiny (version 1)\n"
            "table       token\n"
            "shape       3 x 2\n"
            "type        float32\n"
            "parameters  6\n"
            "bytes       24\n"
            "checksum    fake\n"
            "\n"
            "              mean      std  min      max\n"
            "elements       2.5  1.70783    0        5\n"
            "row norms  3.66956  2.20628    1  6.40312\n"
            "\n"
            "norm from       to  rows\n"
            "        1  3.70156     2\n"
            "  3.70156  6.40312     1\n"
            "\n"
            "no NaN, no infinity, no zero row, no duplicate row\n");
}

TEST_F(StatsCommand, NamesBadCellsZeroRowsAndDuplicates) {
  const Result result = runner_.Run({"stats", "ill"});

  EXPECT_THAT(result.out, HasSubstr("warning: 1 NaN and 1 infinite; the first is at row 3, column 0; first rows with "
                                    "one: row 3, row 5\n"
                                    "warning: 2 zero rows: row 1, row 4\n"
                                    "warning: 3 duplicate rows: row 2 equals row 0, row 4 equals row 1, row 6 equals "
                                    "row 0\n"));
}

TEST_F(StatsCommand, SaysHowManyMoreThereAreThanAreNamed) {
  runner_.fake->AddModel({.name = "zeros", .embedding_dim = 1, .token = std::vector<float>(20)});

  EXPECT_THAT(runner_.Run({"stats", "zeros"}).out,
              AllOf(HasSubstr("warning: 20 zero rows: row 0, "), HasSubstr(", row 15 and 4 more\n"),
                    HasSubstr("row 16 equals row 0 and 3 more\n")));
}

TEST_F(StatsCommand, DrawsBarsAndColoursOnATerminalOnly) {
  runner_.out_is_terminal = true;
  const Result drawn = runner_.Run({"stats", "ill", "--bins", "3"});
  runner_.out_is_terminal = false;
  const Result plain = runner_.Run({"stats", "ill", "--bins", "3"});

  EXPECT_THAT(drawn.out, AllOf(HasSubstr("     3  ████"), HasSubstr("\x1b[33mwarning:\x1b[0m ")));
  EXPECT_THAT(plain.out, AllOf(Not(HasSubstr("█")), Not(HasSubstr("\x1b"))));
}

TEST_F(StatsCommand, SaysThatThereAreNoNorms) {
  runner_.fake->AddModel({.name = "nan", .embedding_dim = 1, .token = {std::numeric_limits<float>::quiet_NaN()}});

  EXPECT_THAT(runner_.Run({"stats", "nan"}).out, HasSubstr("no row is finite throughout, so there are no norms\n"));
}

TEST_F(StatsCommand, PrintsJsonOfTheTableAskedFor) {
  const json statistics =
      json::parse(runner_.Run({"stats", "tiny", "--table", "position", "--bins", "4", "--output", "json"}).out);

  EXPECT_EQ(statistics["table"], "position");
  EXPECT_EQ(statistics["rows"], 4);
  EXPECT_EQ(statistics["min"], -30.0);
  EXPECT_EQ(statistics["histogram_counts"], json({1, 1, 1, 1}));
  EXPECT_EQ(statistics["first_zero_rows"], json({0}));
}

TEST_F(StatsCommand, RefusalIsTold) {
  const Result result = runner_.Run({"stats", "tiny", "--bins", "1025"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("INVALID_ARGUMENT (INVALID_OPTION): histogram_bins = 1025"));
}

TEST_F(StatsCommand, CosinesOfNamedRowsArePrinted) {
  runner_.fake->AddModel({.name = "turn", .embedding_dim = 2, .token = {1, 0, 0, 1, 3, 4}});

  const json result = json::parse(runner_.Run({"cosines", "turn", "--rows", "2 0", "--output", "json"}).out);

  EXPECT_EQ(result["table"], "token");
  EXPECT_EQ(result["row_ids"], json({2, 0}));
  EXPECT_FLOAT_EQ(result["cosines"][0][1].get<float>(), 0.6f);
  EXPECT_EQ(result["cosines"][1][1], 1.0);
}

TEST_F(StatsCommand, CosinesTakeRowsOrAWindow) {
  EXPECT_EQ(json::parse(runner_.Run({"cosines", "tiny", "--first-row", "2", "--output", "json"}).out)["row_ids"],
            json({2, 3}));
  EXPECT_EQ(runner_.Run({"cosines", "tiny", "--rows", "1", "--first-row", "2"}).code, 2);
  EXPECT_EQ(runner_.Run({"cosines", "tiny", "--rows", "one"}).code, 2);
}

}  // namespace
}  // namespace embd::cli
