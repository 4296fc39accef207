#include "client/src/retry.h"

#include "client/src/steady_time.h"
#include "gmock/gmock.h"

namespace embd::client {
namespace {

using ::testing::Eq;
using ::testing::Le;
using ::testing::Optional;

const grpc::Status kSentAway(grpc::StatusCode::UNAVAILABLE, "GOAWAY received");
const grpc::Status kLost(grpc::StatusCode::UNAVAILABLE, "Socket closed");

class RetryTest : public ::testing::Test {
 protected:
  Retry Of(int max_attempts, absl::Duration timeout = absl::InfiniteDuration()) {
    return {max_attempts, SteadyNow() + timeout, stop_.get_token(), &budget_};
  }

  std::stop_source stop_;
  RetryBudget budget_;
  const grpc::ClientContext context_;
};

TEST_F(RetryTest, UnsentCallsAreNoTries) {
  Retry retry = Of(2);

  EXPECT_THAT(retry.PauseAfter(kSentAway, context_), Optional(Eq(absl::Milliseconds(1))));
  EXPECT_THAT(retry.PauseAfter(kSentAway, context_), Optional(Eq(absl::Milliseconds(2))));
  EXPECT_NE(retry.PauseAfter(kLost, context_), std::nullopt);
  EXPECT_EQ(retry.PauseAfter(kLost, context_), std::nullopt);
}

TEST_F(RetryTest, ServerThatSendsEveryoneAwayIsGivenUp) {
  Retry retry = Of(1);
  int pauses = 0;
  while (pauses < 100 && retry.PauseAfter(kSentAway, context_).has_value()) ++pauses;

  EXPECT_EQ(pauses, 10);
}

TEST_F(RetryTest, UnsentCallsAreNotMadeAfterACancellation) {
  Retry retry = Of(4);
  stop_.request_stop();

  EXPECT_EQ(retry.PauseAfter(kSentAway, context_), std::nullopt);
}

TEST_F(RetryTest, UnsentCallsKeepTheDeadline) {
  Retry retry = Of(1, absl::ZeroDuration());

  EXPECT_THAT(retry.PauseAfter(kSentAway, context_), Optional(Le(absl::Milliseconds(1))));
  EXPECT_TRUE(retry.IsTooLate());
}

}  // namespace
}  // namespace embd::client
