#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using ::testing::AllOf;
using testing::CommandRunner;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Result;

using Json = nlohmann::json;

class BenchCommand : public ::testing::Test {
 protected:
  Result Run(std::vector<std::string> arguments, const std::string& standard_input = "") {
    arguments.insert(arguments.begin(), {"bench", "--tokens", "3", "--warmup", "0"});
    return runner_.Run(arguments, standard_input);
  }

  CommandRunner runner_;
};

TEST_F(BenchCommand, PrintsSettingsAndResultsInAlignedLines) {
  const Result result = Run({"tiny", "--batch", "2", "--calls", "20"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, AllOf(HasSubstr("load      unary, 1 caller on 1 connection; closed loop\n"),
                                HasSubstr("batches   2 x 3, composed, float32; 1024 distinct, ids uniform, seed 1\n"),
                                HasSubstr("calls     20\n"), HasSubstr("failed    0\n"),
                                ContainsRegex("latency, ms +min +mean +p50 +p90 +p99 +p99.9 +max\n +[0-9]")));
}

TEST_F(BenchCommand, JsonHasEverything) {
  const Result result =
      Run({"tiny",   "--calls",  "20", "--concurrency", "2",     "--connections", "2",       "--mode",
           "stream", "--window", "3",  "--part",        "token", "--dtype",       "float16", "--ids-distribution",
           "zipf",   "--seed",   "7",  "--output",      "json"});

  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["model"]["name"], "tiny");
  EXPECT_EQ(json["model"]["generation"], 1);
  EXPECT_TRUE(json["model"].contains("checksum"));
  EXPECT_TRUE(json["server"].contains("version"));
  EXPECT_TRUE(json.contains("client_version"));
  EXPECT_EQ(json["settings"], Json::parse(R"({"mode": "stream", "loop": "closed", "concurrency": 2, "connections": 2,
      "window": 3, "chunks": null, "shared_memory": false, "cache_bytes": null,
      "rate": null, "duration_s": null, "calls": 20, "warmup_s": 0.0, "timeout_s": 60.0,
      "shapes": [[1, 3]], "part": "token", "data_type": "float16", "ids_file": null, "ids_distribution": "zipf",
      "seed": 7, "distinct_batches": 1024})"));
  EXPECT_EQ(json["calls"], 20);
  EXPECT_EQ(json["rows"], 60);
  EXPECT_EQ(json["payload_bytes"], 20 * 3 * 2 * 2);
  EXPECT_NEAR(json["calls_per_s"].get<double>() * json["elapsed_s"].get<double>(), 20, 1e-9);
  for (const char* const name : {"min", "mean", "p50", "p90", "p99", "p99_9", "max"}) {
    EXPECT_GT(json["latency_ms"][name].get<double>(), 0) << name;
  }
  EXPECT_EQ(json["open_loop"], nullptr);
  EXPECT_EQ(json["cache"], nullptr);
  EXPECT_EQ(json["errors"], Json::array());
  EXPECT_EQ(json["cut_short"], false);
}

TEST_F(BenchCommand, OpenLoopReportsTheRateAndLateStarts) {
  const Result result = Run({"tiny", "--rate", "100", "--calls", "20", "--output", "json"});

  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["settings"]["loop"], "open");
  EXPECT_EQ(json["open_loop"]["wanted_calls_per_s"], 100);
  EXPECT_GT(json["open_loop"]["achieved_calls_per_s"].get<double>(), 0);
  EXPECT_TRUE(json["open_loop"].contains("late_starts"));
  EXPECT_TRUE(json["open_loop"].contains("max_lateness_ms"));
}

TEST_F(BenchCommand, AsksWithIdsOfTheVocabularyInTheShapeOfTheBatch) {
  const Result result = Run({"tiny", "--batch", "2", "--calls", "50"});

  ASSERT_EQ(result.code, 0) << result.err;
  for (const client::EmbedRequest& request : runner_.fake->embed_requests()) {
    EXPECT_EQ(request.batch_size, 2);
    EXPECT_EQ(request.sequence_length, 3);
    EXPECT_THAT(request.ids, ::testing::SizeIs(6));
    EXPECT_THAT(request.ids, Each(AllOf(::testing::Ge(0), ::testing::Lt(3))));
  }
}

TEST_F(BenchCommand, TakesTheBatchesOfAFileInTurns) {
  const Result result =
      Run({"tiny", "--calls", "4", "--ids-file", "-", "--output", "json"}, "[[0, 1, 2, 2], [1, 0, 0]]");

  ASSERT_EQ(result.code, 0) << result.err;
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["settings"]["distinct_batches"], 2);
  EXPECT_EQ(json["settings"]["ids_distribution"], nullptr);
  const std::vector<std::int64_t> first = {0, 1, 2}, second = {2, 1, 0};
  const auto ids = &client::EmbedRequest::ids;
  // The first one is tried out before.
  EXPECT_THAT(runner_.fake->embed_requests(),
              ::testing::ElementsAre(Field(ids, first), Field(ids, first), Field(ids, second), Field(ids, first),
                                     Field(ids, second)));
}

TEST_F(BenchCommand, AnyFailedCallEndsWith1AndIsNamed) {
  for (const char* const mode : {"unary", "stream", "async"}) {
    SCOPED_TRACE(mode);
    const Result result = Run({"tiny", "--calls", "5", "--ids-file", "-", "--mode", mode}, "[0, 1, 2, 0, 1, 9]");

    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr("2 of 5 calls failed"));
    EXPECT_THAT(result.out,
                AllOf(HasSubstr("calls     3\n"), HasSubstr("failed    2\n"),
                      ContainsRegex("failed +code +the first one said\n +2 +INVALID_ARGUMENT +ID_OUT_OF_RANGE: ")));
  }
}

TEST_F(BenchCommand, CallsAreTriedOnceOnly) {
  const Result result = Run({"tiny", "--calls", "1"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(runner_.max_attempts, 1);
}

TEST_F(BenchCommand, MakesAsManyConnectionsAsAreAskedFor) {
  const Result result = Run({"tiny", "--calls", "10", "--concurrency", "4", "--connections", "3"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(runner_.connects, 1 + 3);
}

TEST_F(BenchCommand, WhatTheServerRefusesIsSaidBeforeTheLoad) {
  const Result too_long = runner_.Run({"bench", "tiny", "--tokens", "5"});
  EXPECT_EQ(too_long.code, 1);
  EXPECT_THAT(too_long.err, HasSubstr("INVALID_ARGUMENT (SEQUENCE_TOO_LONG)"));

  const Result unknown = runner_.Run({"bench", "none"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("NOT_FOUND"));

  runner_.fake->FailNext(absl::UnavailableError("no server"));
  const Result unreachable = runner_.Run({"bench", "tiny"});
  EXPECT_EQ(unreachable.code, 3);
}

TEST_F(BenchCommand, ImpossibleLoadsAreWrongUsage) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"--duration", "0"},
                                             {"--duration", "-1"},
                                             {"--concurrency", "0"},
                                             {"--batch", "0"},
                                             {"--calls", "0"},
                                             {"--rate", "0"},
                                             {"--warmup", "-1"},
                                             {"--rate", "0.001", "--duration", "1"},
                                             {"--window", "4"},
                                             {"--mode", "stream", "--window", "0"},
                                             {"--mode", "serial"},
                                             {"--connections", "2"},
                                             {"--shapes", "3"},
                                             {"--shapes", "1x1", "--batch", "1"},
                                             {"--batch", "67108864", "--tokens", "2"},
                                             {"--ids-file", "nowhere.txt"},
                                             {"--ids-file", "-", "--ids-distribution", "zipf"},
                                             {"--ids-file", "-", "--part", "position"},
                                             {"--dtype", "int8"},
                                             {"--chunks", "sometimes"},
                                             {"--cache", "0"},
                                             {"--cache", "much"},
                                             {"--seed", "-1"}}) {
    SCOPED_TRACE(absl::StrCat(arguments.front(), " ", arguments.back()));
    std::vector<std::string> line = {"bench", "tiny"};
    line.insert(line.end(), arguments.begin(), arguments.end());

    const Result result = runner_.Run(line, "[1]");

    EXPECT_EQ(result.code, 2) << result.out;
    EXPECT_THAT(result.err, HasSubstr("embdctl: "));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST_F(BenchCommand, InterruptionPrintsWhatWasMeasuredAndMarksIt) {
  runner_.interrupted = true;

  const Result result = Run({"tiny", "--calls", "1000000000"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("CUT SHORT"));
}

TEST_F(BenchCommand, DrawsProgressOnATerminalOnly) {
  runner_.err_is_terminal = true;
  runner_.interrupted = true;

  const Result result = Run({"tiny", "--calls", "1000000000"});

  EXPECT_THAT(result.err, AllOf(HasSubstr(" of 1000000000 calls, "), ::testing::EndsWith("\r\x1b[K")));
}

TEST_F(BenchCommand, PositionsNeedNoIds) {
  const Result result = Run({"tiny", "--part", "position", "--calls", "3"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("no ids"));
}

}  // namespace
}  // namespace embd::cli
