#include "client/cli/load/pace.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace embd::cli {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

// A clock that stands still but for sleeps, and for what a test adds.
class PaceTest : public ::testing::Test {
 protected:
  std::unique_ptr<Pace> Start(const PaceSettings& settings) {
    auto pace = Pace::Start(settings, clock_, stop_.get_token());
    EXPECT_TRUE(pace.ok()) << pace.status();
    return *std::move(pace);
  }

  absl::Duration now_ = absl::Seconds(1000);
  std::stop_source stop_;
  const Clock clock_ = {.now = [this] { return now_; }, .sleep = [this](absl::Duration time) { now_ += time; }};
};

TEST_F(PaceTest, ClosedLoopHandsOutTurnsAtOnceUntilTheTimeIsOver) {
  const auto pace = Start({.duration = absl::Seconds(2)});

  const auto first = pace->Next();
  now_ += absl::Seconds(1.5);
  const auto second = pace->Next();
  now_ += absl::Seconds(0.5);

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->due, absl::Seconds(1000));
  EXPECT_EQ(second->due, absl::Seconds(1001.5));
  EXPECT_EQ(second->number, 1);
  EXPECT_EQ(second->late, absl::ZeroDuration());
  EXPECT_FALSE(pace->Next().has_value());
}

TEST_F(PaceTest, WarmUpIsNotMeasuredAndTakesNoneOfTheCalls) {
  const auto pace = Start({.warmup = absl::Seconds(1), .calls = 2});

  EXPECT_FALSE(pace->Next()->measured);
  EXPECT_FALSE(pace->Next()->measured);
  now_ += absl::Seconds(1);
  EXPECT_TRUE(pace->Next()->measured);
  EXPECT_TRUE(pace->Next()->measured);
  EXPECT_FALSE(pace->Next().has_value());
}

TEST_F(PaceTest, OpenLoopWaitsUntilEachCallIsDue) {
  const auto pace = Start({.duration = absl::Seconds(1), .rate = 4});

  for (int i = 0; i < 4; ++i) {
    const auto turn = pace->Next();
    ASSERT_TRUE(turn.has_value());
    EXPECT_EQ(turn->due, absl::Seconds(1000 + i * 0.25));
    EXPECT_EQ(now_, turn->due);
    EXPECT_EQ(turn->late, absl::ZeroDuration());
  }
  EXPECT_FALSE(pace->Next().has_value());
}

TEST_F(PaceTest, OpenLoopKeepsToItsScheduleWhenCallersComeLate) {
  const auto pace = Start({.calls = 5, .rate = 10});
  ASSERT_TRUE(pace->Next().has_value());
  now_ += absl::Milliseconds(250);  // the callers are held up

  const auto second = pace->Next(), third = pace->Next(), fourth = pace->Next();

  ASSERT_TRUE(second && third && fourth);
  EXPECT_EQ(second->due, absl::Seconds(1000.1));
  EXPECT_EQ(second->late, absl::Milliseconds(150));
  EXPECT_EQ(third->late, absl::Milliseconds(50));
  EXPECT_EQ(fourth->late, absl::ZeroDuration()) << "caught up";
  EXPECT_TRUE(pace->Next().has_value());
  EXPECT_FALSE(pace->Next().has_value());
}

TEST_F(PaceTest, OpenLoopLeavesNoCallOutHoweverLateItIs) {
  const auto pace = Start({.duration = absl::Seconds(1), .rate = 100});
  now_ += absl::Hours(1);

  int turns = 0;
  while (pace->Next().has_value()) ++turns;

  EXPECT_EQ(turns, 100);
}

TEST_F(PaceTest, OpenLoopMeasuresFromTheEndOfTheWarmUp) {
  const auto pace = Start({.warmup = absl::Seconds(0.25), .calls = 2, .rate = 10});

  for (int i = 0; i < 3; ++i) EXPECT_FALSE(pace->Next()->measured);
  const auto first = pace->Next();

  ASSERT_TRUE(first.has_value());
  EXPECT_TRUE(first->measured);
  EXPECT_EQ(first->due, absl::Seconds(1000.25));
  EXPECT_EQ(pace->Next()->due, absl::Seconds(1000.35));
  EXPECT_FALSE(pace->Next().has_value());
}

TEST_F(PaceTest, EndsWhenItIsStopped) {
  for (const std::optional<double> rate : {std::optional<double>(), std::optional<double>(10)}) {
    const auto pace = Start({.duration = absl::Seconds(10), .rate = rate});
    EXPECT_TRUE(pace->Next().has_value());
    stop_.request_stop();
    EXPECT_FALSE(pace->Next().has_value());
    stop_ = std::stop_source();
  }
}

TEST_F(PaceTest, LoadWithoutAnEndOrWithoutACallIsRefused) {
  EXPECT_THAT(Pace::Start({}, clock_, {}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("needs a duration")));
  EXPECT_THAT(Pace::Start({.duration = absl::Seconds(10), .rate = 0.01}, clock_, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, "0.01 calls a second for 10s are no call at all"));
  EXPECT_THAT(Pace::Start({.duration = absl::Hours(1e10), .rate = 1e8}, clock_, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("too many")));
}

}  // namespace
}  // namespace embd::cli
