#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using client::HealthStatus;
using ::testing::AllOf;
using testing::CommandRunner;
using ::testing::HasSubstr;
using testing::Result;

class HealthCommand : public ::testing::Test {
 protected:
  CommandRunner runner_;
};

TEST_F(HealthCommand, SaysServingAndEndsWith0) {
  const Result result = runner_.Run({"health"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "SERVING\n");
}

TEST_F(HealthCommand, EndsWith1WhenNotServing) {
  runner_.fake->SetHealth("tiny", HealthStatus::kNotServing);

  const Result result = runner_.Run({"health", "--service", "tiny", "--output", "json"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "{\n  \"service\": \"tiny\",\n  \"status\": \"NOT_SERVING\"\n}\n");
}

TEST_F(HealthCommand, EndsWith1ForAnUnknownService) {
  const Result result = runner_.Run({"health", "--service", "none"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("NOT_FOUND"), HasSubstr("asked for service \"none\"")));
}

TEST_F(HealthCommand, WaitsUntilTheServerServes) {
  runner_.fake->FailNext(absl::UnavailableError("starting"), 3);

  const Result result = runner_.Run({"health", "--wait", "10"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "SERVING\n");
  EXPECT_EQ(runner_.fake->calls("CheckHealth"), 4);
}

TEST_F(HealthCommand, GivesUpWhenTheWaitIsOver) {
  runner_.fake->SetHealth("", HealthStatus::kNotServing);

  const Result result = runner_.Run({"health", "--wait", "2"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "NOT_SERVING\n");
  EXPECT_GE(runner_.now, absl::UnixEpoch() + absl::Seconds(1.8));
  EXPECT_LE(runner_.now, absl::UnixEpoch() + absl::Seconds(2));
}

TEST_F(HealthCommand, DoesNotWaitForWhatWillNotChange) {
  runner_.fake->FailNext(absl::UnauthenticatedError("no token"));

  const Result result = runner_.Run({"health", "--wait", "10"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(runner_.fake->calls("CheckHealth"), 1);
}

}  // namespace
}  // namespace embd::cli
