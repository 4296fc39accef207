#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::Result;

class ModelControlCommands : public ::testing::Test {
 protected:
  testing::CommandRunner runner_;
};

TEST_F(ModelControlCommands, LoadPrintsWhatWasLoaded) {
  const Result result = runner_.Run({"load", "tiny"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "what  result  generation  ms  checksum\n"
            "tiny  loaded           2   0  fake\n");
}

TEST_F(ModelControlCommands, LoadPrintsJson) {
  EXPECT_EQ(json::parse(runner_.Run({"load", "tiny", "--output", "json"}).out),
            json({{"name", "tiny"}, {"version", "1"}, {"generation", 2}, {"checksum", "fake"}, {"load_time_ms", 0}}));
}

TEST_F(ModelControlCommands, RefusalExitsWithOneAndNamesTheReason) {
  const Result result = runner_.Run({"load", "other"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("NOT_FOUND (MODEL_NOT_FOUND)"));
  EXPECT_EQ(runner_.Run({"unload", "other"}).code, 1);
}

TEST_F(ModelControlCommands, LoadThatTakesTooLongIsSaidToGoOn) {
  runner_.fake->FailNext(absl::DeadlineExceededError("too slow"));

  const Result result = runner_.Run({"load", "tiny"});

  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("the server goes on loading"));
}

TEST_F(ModelControlCommands, UnloadedModelIsServedNoMore) {
  const Result result = runner_.Run({"unload", "tiny"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(runner_.Run({"embed", "tiny", "--ids", "1"}).code, 3) << "unavailable";
  EXPECT_EQ(json::parse(runner_.Run({"unload", "plain", "--output", "json"}).out), json({{"unloaded", "plain"}}));
}

client::ReloadReport Everything() {
  return {.loaded = {{.name = "a", .version = "1", .generation = 1, .checksum = "0123456789abcdef"}},
          .reloaded = {{.name = "b", .version = "2", .generation = 7, .load_time = absl::Milliseconds(1500)}},
          .unloaded = {"c"},
          .unchanged = {"d"},
          .failures = {{.model = "e",
                        .status = client::ErrorWithReason(absl::StatusCode::kInvalidArgument, "INVALID_FILE", "bad")},
                       {.setting = "server.tokens", .status = absl::NotFoundError("gone")}},
          .needs_restart = {"server.listen"},
          .applied = {"server.log.level"}};
}

TEST_F(ModelControlCommands, ReloadPrintsWhatHappenedAndExitsWithOneWhereSomethingFailed) {
  runner_.fake->SetReload(Everything());

  const Result result = runner_.Run({"reload"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out,
            "what              result           generation    ms  checksum\n"
            "a                 loaded                    1     0  0123456789ab\n"
            "b                 loaded anew               7  1500\n"
            "c                 unloaded\n"
            "d                 unchanged\n"
            "e                 failed\n"
            "server.tokens     failed\n"
            "server.log.level  applied\n"
            "server.listen     needs a restart\n");
  EXPECT_EQ(result.err,
            "embdctl: e: INVALID_ARGUMENT (INVALID_FILE): bad\n"
            "embdctl: server.tokens: NOT_FOUND: gone\n"
            "embdctl: 2 could not be made as the configuration says\n");
}

TEST_F(ModelControlCommands, ReloadPrintsJson) {
  runner_.fake->SetReload(Everything());

  const json report = json::parse(runner_.Run({"reload", "--output", "json"}).out);

  EXPECT_EQ(report["loaded"][0]["name"], "a");
  EXPECT_EQ(report["reloaded"][0]["load_time_ms"], 1500);
  EXPECT_EQ(report["unloaded"], json({"c"}));
  EXPECT_EQ(report["unchanged"], json({"d"}));
  EXPECT_EQ(report["failures"][0],
            json({{"model", "e"}, {"code", "INVALID_ARGUMENT"}, {"reason", "INVALID_FILE"}, {"message", "bad"}}));
  EXPECT_EQ(report["failures"][1]["setting"], "server.tokens");
  EXPECT_EQ(report["needs_restart"], json({"server.listen"}));
  EXPECT_EQ(report["applied"], json({"server.log.level"}));
}

TEST_F(ModelControlCommands, ReloadThatChangesNothingExitsWithZero) {
  const Result result = runner_.Run({"reload"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("tiny   unchanged\n"));
  EXPECT_EQ(result.err, "");
}

TEST_F(ModelControlCommands, WrongConfigurationIsRefused) {
  runner_.fake->FailNext(
      client::ErrorWithReason(absl::StatusCode::kInvalidArgument, "INVALID_CONFIG", "embd.yaml:3: no"));

  const Result result = runner_.Run({"reload"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("INVALID_ARGUMENT (INVALID_CONFIG): embd.yaml:3: no"));
}

}  // namespace
}  // namespace embd::cli
