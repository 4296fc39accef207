#include "client/cli/commands/command_line.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using ::testing::AllOf;
using testing::CommandRunner;
using ::testing::HasSubstr;
using testing::Result;
using ::testing::StartsWith;

class CommandLine : public ::testing::Test {
 protected:
  CommandRunner runner_;
};

// Sets a variable for as long as it lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST_F(CommandLine, AsksTheServerOfTheFlagThenOfTheVariableThenTheLocalOne) {
  runner_.Run({"models"});
  EXPECT_EQ(runner_.address, "127.0.0.1:8001");

  const Variable server("EMBDCTL_SERVER", "variable:1");
  runner_.Run({"models"});
  EXPECT_EQ(runner_.address, "variable:1");

  runner_.Run({"--server", "flag:1", "models"});
  EXPECT_EQ(runner_.address, "flag:1");
}

TEST_F(CommandLine, TakesTimeoutAndOutputFromVariables) {
  const Variable timeout("EMBDCTL_TIMEOUT", "2.5");
  const Variable output("EMBDCTL_OUTPUT", "json");

  const Result result = runner_.Run({"models"});

  EXPECT_EQ(runner_.timeout, absl::Seconds(2.5));
  EXPECT_TRUE(nlohmann::json::accept(result.out));
}

TEST_F(CommandLine, TakesGlobalOptionsBehindTheCommand) {
  const Result result = runner_.Run({"models", "--output", "json", "--server", "late:1"});

  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(nlohmann::json::accept(result.out));
  EXPECT_EQ(runner_.address, "late:1");
}

TEST_F(CommandLine, EndsWrongUsageWith2AndPrintsNoResult) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"nonsense"},
      {"models", "--nonsense"},
      {"models", "extra"},
      {"describe"},
      {"--timeout", "0", "models"},
      {"--timeout", "soon", "models"},
      {"--output", "xml", "models"},
      {"--server", "nonsense", "models"},
      {"compare", "tiny"},
      {"compare", "tiny", "tiny", "--batch", "0"},
      {"compare", "tiny", "tiny", "--batch", "1048576", "--tokens", "2"},
      {"similarity", "tiny", "--table", "output"},
      {"completion", "fish"}};
  for (const std::vector<std::string>& arguments : wrong) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Result result = runner_.Run(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, StartsWith("embdctl: "));
  }
}

TEST_F(CommandLine, NamesAnUnknownCommandAndListsThoseThereAre) {
  const std::string expected =
      "unknown command \"modles\"; there are health, info, models, describe, embed, verify, rotate, rotary-table, "
      "similarity, project, nearest, analogy, similar, compare, load, unload, reload, regions, bench, completion, help";

  EXPECT_THAT(runner_.Run({"modles"}).err, HasSubstr(expected));
  EXPECT_THAT(runner_.Run({"--server", "a:1", "modles", "--ids", "1"}).err, HasSubstr(expected));
  EXPECT_THAT(runner_.Run({"help", "modles"}).err, HasSubstr(expected));
}

TEST_F(CommandLine, HelpsAsACommandToo) {
  EXPECT_EQ(runner_.Run({"help"}).out, runner_.Run({"--help"}).out);
  EXPECT_EQ(runner_.Run({"help", "info"}).out, runner_.Run({"info", "--help"}).out);
}

TEST_F(CommandLine, TellsWhatIsNoNumberFromWhatIsOutOfRange) {
  EXPECT_THAT(runner_.Run({"models", "--timeout", "soon"}).err, HasSubstr("--timeout: \"soon\" is not a number\n"));
  EXPECT_THAT(runner_.Run({"models", "--timeout=0"}).err, HasSubstr("--timeout: 0 is not in range 0.001 to 1e+09\n"));
  EXPECT_THAT(runner_.Run({"compare", "tiny", "tiny", "--batch", "1.5"}).err,
              HasSubstr("\"1.5\" is not a whole number"));
}

TEST_F(CommandLine, BlamesAVariableForItsOwnValue) {
  const Variable timeout("EMBDCTL_TIMEOUT", "soon");

  EXPECT_THAT(runner_.Run({"models"}).err, StartsWith("embdctl: EMBDCTL_TIMEOUT: \"soon\" is not a number\n"));
  EXPECT_EQ(runner_.Run({"models", "--timeout", "1"}).code, 0);
}

TEST_F(CommandLine, HelpsWithAnExampleForEveryCommand) {
  for (const char* command : {"health",       "info",       "models",  "describe", "embed",   "verify",    "rotate",
                              "rotary-table", "similarity", "project", "nearest",  "analogy", "similar",   "compare",
                              "load",         "unload",     "reload",  "regions",  "bench",   "completion"}) {
    SCOPED_TRACE(command);
    const Result result = runner_.Run({command, "--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, AllOf(HasSubstr("Example"), HasSubstr(std::string("embdctl ") + command)));
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(CommandLine, PrintsItsVersion) {
  const Result result = runner_.Run({"--version"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, StartsWith("embdctl "));
}

TEST_F(CommandLine, EndsARefusalWith1AndNamesCodeAndReason) {
  const Result result = runner_.Run({"describe", "none", "--output", "json"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, StartsWith("embdctl: NOT_FOUND (MODEL_NOT_FOUND): "));
}

TEST_F(CommandLine, EndsWith3WhereTheServerCannotBeReachedOrIsTooSlow) {
  for (const absl::Status& status : {absl::UnavailableError("gone"), absl::DeadlineExceededError("slow")}) {
    runner_.fake->FailNext(status);

    EXPECT_EQ(runner_.Run({"info"}).code, 3);
  }
}

TEST_F(CommandLine, NamesTheAddressOfAServerThatCannotBeReached) {
  runner_.fake->FailNext(absl::UnavailableError("gone"));

  EXPECT_EQ(runner_.Run({"info", "--server", "there:1"}).err, "embdctl: UNAVAILABLE: gone (server there:1)\n");
}

TEST_F(CommandLine, NamesTheSecondsThatWereNotEnough) {
  runner_.fake->FailNext(absl::DeadlineExceededError("slow"));

  EXPECT_EQ(runner_.Run({"info", "--timeout", "2.5"}).err,
            "embdctl: DEADLINE_EXCEEDED: slow (server 127.0.0.1:8001, --timeout 2.5 s)\n");
}

TEST_F(CommandLine, ShowsAReasonThatCameWithUnavailable) {
  runner_.fake->FailNext(client::ErrorWithReason(absl::StatusCode::kUnavailable, "DRAINING", "the server is draining"));

  EXPECT_EQ(runner_.Run({"info"}).err,
            "embdctl: UNAVAILABLE (DRAINING): the server is draining (server 127.0.0.1:8001)\n");
}

}  // namespace
}  // namespace embd::cli
