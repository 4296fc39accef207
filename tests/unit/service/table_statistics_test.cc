#include "server/service/table_statistics.h"

#include <latch>
#include <string>

#include "gmock/gmock.h"
#include "server/service/cosine_similarities.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::service {
namespace {

using ::embd::testing::StatusIs;

// A table that is looked at in some twenty blocks.
class AnswerStatistics : public ::testing::Test {
 protected:
  AnswerStatistics() {
    models_.Put(
        core::Model::Create({.name = "m",
                             .token = core::ModelTable::Of(
                                 testing::SmallTable(20'000, 64, core::ElementType::kFloat32, 1), "test", true)})
            .value());
    statistics_.set_model("m");
    cosines_.set_model("m");
    cosines_.set_row_count(1024);
  }

  core::ModelRegistry models_;
  v1::TableStatisticsRequest statistics_;
  v1::CosineSimilaritiesRequest cosines_;
};

TEST_F(AnswerStatistics, CallThatDiesMidWayStops) {
  WorkerPool pool(1);
  std::latch release(1);
  pool.Add([&release] { release.wait(); });  // so that all is done, and asked, on this thread
  int asked = 0;
  const auto dies = [&asked] { return ++asked < 3 ? absl::OkStatus() : absl::DeadlineExceededError("late"); };

  EXPECT_THAT(AnswerTableStatistics(models_, pool, statistics_, dies),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "late"));
  EXPECT_EQ(asked, 3);
  asked = 0;
  EXPECT_THAT(AnswerCosineSimilarities(models_, pool, cosines_, dies),
              StatusIs(absl::StatusCode::kDeadlineExceeded, "late"));
  EXPECT_EQ(asked, 3);
  release.count_down();
}

TEST_F(AnswerStatistics, NumberOfThreadsChangesNoBit) {
  WorkerPool one(1);
  WorkerPool many(7);
  const auto go_on = [] { return absl::OkStatus(); };

  EXPECT_EQ(AnswerTableStatistics(models_, one, statistics_, go_on)->SerializeAsString(),
            AnswerTableStatistics(models_, many, statistics_, go_on)->SerializeAsString());
  EXPECT_EQ(AnswerCosineSimilarities(models_, one, cosines_, go_on)->SerializeAsString(),
            AnswerCosineSimilarities(models_, many, cosines_, go_on)->SerializeAsString());
}

}  // namespace
}  // namespace embd::service
