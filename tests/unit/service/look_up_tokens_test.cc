#include "server/service/look_up_tokens.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::service {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;

class LookUpTokens : public ::testing::Test {
 protected:
  LookUpTokens() {
    core::Vocabulary::Builder words;
    words.Add("a");
    words.Add("b");
    models_.Put(core::Model::Create({.name = "m",
                                     .token = core::ModelTable::Of(testing::MakeFloatTable(2, 1, {1, 2}), "test", true),
                                     .vocabulary = std::move(words).Build().value()})
                    .value());
    request_.set_model("m");
  }

  core::ModelRegistry models_;
  v1::LookUpTokensRequest request_;
};

TEST_F(LookUpTokens, CallThatIsDeadAlreadyLooksNothingUp) {
  request_.add_tokens("no such word");

  EXPECT_THAT(AnswerLookUpTokens(models_, request_, [] { return absl::CancelledError("gone"); }),
              StatusIs(absl::StatusCode::kCancelled, "gone"));
}

TEST_F(LookUpTokens, CallThatDiesBetweenManyWordsStops) {
  for (int i = 0; i < 100'000; ++i) request_.add_tokens("b");
  int asked = 0;

  const auto answer = AnswerLookUpTokens(
      models_, request_, [&asked] { return ++asked < 3 ? absl::OkStatus() : absl::DeadlineExceededError("late"); });

  EXPECT_THAT(answer, StatusIs(absl::StatusCode::kDeadlineExceeded, "late"));
  EXPECT_EQ(asked, 3);
}

TEST_F(LookUpTokens, EveryWordGetsItsIdWhateverTheirNumber) {
  for (int i = 0; i < 10'000; ++i) request_.add_tokens(i % 2 == 0 ? "a" : "b");

  const auto answer = AnswerLookUpTokens(models_, request_, [] { return absl::OkStatus(); });

  ASSERT_THAT(answer, IsOk());
  ASSERT_EQ(answer->ids_size(), 10'000);
  for (int i = 0; i < 10'000; ++i) ASSERT_EQ(answer->ids(i), i % 2);
}

}  // namespace
}  // namespace embd::service
