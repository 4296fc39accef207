#include "client/cli/load/batches.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace embd::cli {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

BatchPlan PlanOf(std::vector<BatchShape> shapes) {
  return {.request = {.model = "m", .output_type = client::DataType::kFloat16},
          .shapes = std::move(shapes),
          .vocab_size = 10,
          .embedding_dim = 3};
}

std::vector<std::int64_t> CountsOf(const std::vector<Batch>& batches, std::int64_t vocab_size) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocab_size));
  for (const Batch& batch : batches) {
    for (const std::int64_t id : batch.request.ids) ++counts.at(static_cast<std::size_t>(id));
  }
  return counts;
}

TEST(ParseShapes, ReadsRowsAndIdsOfARow) {
  const auto shapes = ParseShapes("1x1,8x512");

  ASSERT_THAT(shapes, IsOk());
  ASSERT_EQ(shapes->size(), 2u);
  EXPECT_EQ((*shapes)[1].batch_size, 8);
  EXPECT_EQ((*shapes)[1].sequence_length, 512);
}

TEST(ParseShapes, RefusesWhatIsNoShape) {
  for (const char* const text : {"", "8", "8x", "x8", "0x1", "1x-1", "1x1,", "1x1;2x2", "1x1x1", "67108865x1",
                                 "10000x10000", "99999999999999999999x1"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseShapes(text), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("is not a shape")));
  }
}

TEST(RandomBatches, SayWhatTheirReplyMustBe) {
  const std::vector<Batch> batches = RandomBatches(PlanOf({{2, 4}}));

  const Batch& batch = batches.front();
  EXPECT_EQ(batch.request.model, "m");
  EXPECT_EQ(batch.request.batch_size, 2);
  EXPECT_EQ(batch.request.sequence_length, 4);
  EXPECT_EQ(batch.request.ids.size(), 8u);
  EXPECT_THAT(batch.reply_shape, ElementsAre(2, 4, 3));
  EXPECT_EQ(batch.rows, 8);
  EXPECT_EQ(batch.reply_bytes, 2u * 4 * 3 * 2);
}

TEST(RandomBatches, AreTheSameForTheSameSeedOnly) {
  BatchPlan plan = PlanOf({{1, 16}});
  const auto first = RandomBatches(plan).front().request.ids;
  const auto again = RandomBatches(plan).front().request.ids;
  plan.seed = 2;

  EXPECT_EQ(first, again);
  EXPECT_NE(first, RandomBatches(plan).front().request.ids);
}

TEST(RandomBatches, NumberAndIdsAreBounded) {
  BatchPlan plan = PlanOf({{1, 1}});
  EXPECT_EQ(RandomBatches(plan).size(), 1024u);
  plan.shapes = {{8, 512}};
  EXPECT_EQ(RandomBatches(plan).size(), 256u);
  plan.most_ids = 1;
  EXPECT_EQ(RandomBatches(plan).size(), 1u) << "one is made however large it is";
}

// 1,048,576 ids over 10 values: 104,858 expected each, standard deviation 307.
TEST(RandomBatches, UniformIdsAreAllAlikeOften) {
  const std::vector<std::int64_t> counts = CountsOf(RandomBatches(PlanOf({{8, 512}})), 10);

  for (const std::int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 104'857.6, 6 * 307);
}

TEST(RandomBatches, ZipfIdsAreAsOftenAsTheirRankSays) {
  BatchPlan plan = PlanOf({{8, 512}});
  plan.distribution = IdsDistribution::kZipf;
  const std::vector<std::int64_t> counts = CountsOf(RandomBatches(plan), 10);

  const double harmonic = 7381.0 / 2520;  // 1 + 1/2 + … + 1/10
  for (std::size_t id = 0; id < counts.size(); ++id) {
    SCOPED_TRACE(id);
    const double expected = 1'048'576 / harmonic / static_cast<double>(id + 1);
    EXPECT_NEAR(static_cast<double>(counts[id]), expected, 6 * std::sqrt(expected));
  }
}

TEST(RandomBatches, SeveralShapesAreEachThereAndMixed) {
  const std::vector<Batch> batches = RandomBatches(PlanOf({{1, 1}, {1, 16}, {2, 8}}));

  std::array<std::int64_t, 3> counts{};
  for (const Batch& batch : batches) {
    ++counts[batch.rows == 1 ? 0 : batch.request.batch_size == 1 ? 1 : 2];
  }
  for (const std::int64_t count : counts) EXPECT_NEAR(static_cast<double>(count), 1024 / 3.0, 6 * 15.1);
  EXPECT_EQ(batches[0].rows, 1);
  EXPECT_EQ(batches[2].request.batch_size, 2);
}

TEST(RandomBatches, OfPositionsHaveNoIds) {
  BatchPlan plan = PlanOf({{2, 4}});
  plan.request.part = client::Part::kPosition;

  EXPECT_THAT(RandomBatches(plan).front().request.ids, IsEmpty());
}

TEST(CutIntoBatches, TakesIdsOneAfterTheOtherAndLeavesTheRest) {
  std::vector<std::int64_t> ids(11);
  std::iota(ids.begin(), ids.end(), 0);

  const auto batches = CutIntoBatches(ids, PlanOf({{2, 2}}));

  ASSERT_THAT(batches, IsOk());
  ASSERT_EQ(batches->size(), 2u);
  EXPECT_THAT((*batches)[0].request.ids, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT((*batches)[1].request.ids, ElementsAre(4, 5, 6, 7));
}

TEST(CutIntoBatches, TooFewIdsForOneAreRefused) {
  EXPECT_THAT(CutIntoBatches(std::vector<std::int64_t>(3), PlanOf({{2, 2}})),
              StatusIs(absl::StatusCode::kInvalidArgument, "holds 3 ids, a batch of 2 x 2 takes 4"));
}

}  // namespace
}  // namespace embd::cli
