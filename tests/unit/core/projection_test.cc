#include "server/core/diagnostics/projection.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/diagnostics/row_search.h"
#include "server/core/tensor/decode.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::MakeTable;
using ::embd::testing::SmallTable;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::IsNan;

std::vector<float> RandomVectors(std::size_t count, std::size_t dim) {
  std::mt19937_64 random(9);
  std::vector<float> values(count * dim);
  for (float& value : values) value = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-51 - 2.0);
  return values;
}

// All scores of one vector by their definition, in double; what ranks them where there is no softcap.
std::vector<double> ScoresOf(const Table& table, std::span<const float> vector, const ProjectionInput& input) {
  std::vector<double> scores;
  std::vector<double> row(vector.size());
  for (std::int64_t id = 0; id < table.rows(); ++id) {
    DecodeToDouble(table.row(id), table.element_type(), row);
    double score = input.scale * std::inner_product(row.begin(), row.end(), vector.begin(), 0.0);
    if (!input.bias.empty()) score += static_cast<double>(input.bias[static_cast<std::size_t>(id)]);
    if (input.softcap.has_value()) score = *input.softcap * std::tanh(score / *input.softcap);
    scores.push_back(score);
  }
  return scores;
}

double LogSumOf(const std::vector<double>& scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (const double score : scores) sum += std::exp(score - largest);
  return largest + std::log(sum);
}

std::vector<std::int64_t> BestOf(const std::vector<double>& scores, std::size_t count) {
  std::vector<std::int64_t> ids(scores.size());
  std::iota(ids.begin(), ids.end(), 0);
  std::stable_sort(ids.begin(), ids.end(), [&scores](std::int64_t a, std::int64_t b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  ids.resize(count);
  return ids;
}

// Does the pieces from the last to the first.
absl::Status Backwards(std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
  while (count > 0) piece(--count);
  return absl::OkStatus();
}

class ProjectionTest : public ::testing::TestWithParam<ElementType> {};

TEST_P(ProjectionTest, EqualsANaiveOneInDouble) {
  constexpr std::size_t kDim = 9;
  constexpr std::size_t kVectors = 5;
  constexpr std::size_t kTop = 20;
  const Table table = SmallTable(20'011, kDim, GetParam(), 4);
  ASSERT_GT(SearchPieces(table), 1);
  const std::vector<float> vectors = RandomVectors(kVectors, kDim);
  const std::vector<float> bias = RandomVectors(static_cast<std::size_t>(table.rows()), 1);
  for (const bool log_probabilities : {false, true}) {
    const ProjectionInput input = {.vectors = vectors,
                                   .top_k = kTop,
                                   .scale = 0.7,
                                   .bias = bias,
                                   .softcap = 3.0,
                                   .log_probabilities = log_probabilities};

    ASSERT_OK_AND_ASSIGN(const Projection result, Project(table, input, OneThread));

    for (std::size_t v = 0; v < kVectors; ++v) {
      const auto scores = ScoresOf(table, std::span(vectors).subspan(v * kDim, kDim), input);
      const double log_sum = log_probabilities ? LogSumOf(scores) : 0.0;
      const std::vector<std::int64_t> best = BestOf(scores, kTop);
      for (std::size_t i = 0; i < kTop; ++i) {
        EXPECT_EQ(result.ids[v * kTop + i], best[i]);
        const double expected = scores[static_cast<std::size_t>(best[i])] - log_sum;
        EXPECT_NEAR(static_cast<double>(result.scores[v * kTop + i]), expected, 2e-6);
      }
      if (log_probabilities) {
        EXPECT_NEAR(static_cast<double>(result.log_sum_exp[v]), log_sum, 2e-6);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ProjectionTest,
                         ::testing::Values(ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
                                           ElementType::kFloat64));

TEST(Projection, CandidatesKeepTheirOrder) {
  const Table table = MakeTable({{1, 0}, {0, 2}, {3, 3}});
  const std::vector<float> vectors = {1, 10, 2, 0};
  const std::vector<std::int64_t> candidates = {2, 0, 2};

  ASSERT_OK_AND_ASSIGN(const Projection result,
                       Project(table, {.vectors = vectors, .candidates = candidates}, OneThread));

  EXPECT_THAT(result.ids, ElementsAre(2, 0, 2, 2, 0, 2));
  EXPECT_THAT(result.scores, ElementsAre(33, 1, 33, 6, 2, 6));
  EXPECT_TRUE(result.log_sum_exp.empty());
}

TEST(Projection, ProbabilitiesOfAllRowsAddUpToOne) {
  const Table table = SmallTable(300, 16, ElementType::kFloat32, 5);
  const std::vector<float> vectors = RandomVectors(3, 16);
  std::vector<std::int64_t> all(300);
  std::iota(all.begin(), all.end(), 0);

  ASSERT_OK_AND_ASSIGN(
      const Projection result,
      Project(table, {.vectors = vectors, .candidates = all, .softcap = 2.0, .log_probabilities = true}, OneThread));

  for (std::size_t v = 0; v < 3; ++v) {
    double sum = 0;
    for (std::size_t i = 0; i < 300; ++i) sum += std::exp(static_cast<double>(result.scores[v * 300 + i]));
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
}

TEST(Projection, EqualScoresGoToTheLowerRowAndNanIsLast) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Table table = MakeTable({{nan}, {1}, {2}, {1}, {2}});
  const std::vector<float> vectors = {1};

  ASSERT_OK_AND_ASSIGN(const Projection result, Project(table, {.vectors = vectors, .top_k = 5}, OneThread));

  EXPECT_THAT(result.ids, ElementsAre(2, 4, 1, 3, 0));
  EXPECT_THAT(result.scores, ElementsAre(2, 2, 1, 1, IsNan()));
}

TEST(Projection, ABiasCountsForTheRank) {
  const Table table = MakeTable({{1}, {2}, {3}});
  const std::vector<float> vectors = {1};
  const std::vector<float> bias = {5, 0, 0};

  ASSERT_OK_AND_ASSIGN(const Projection result,
                       Project(table, {.vectors = vectors, .top_k = 2, .scale = 0.5, .bias = bias}, OneThread));

  EXPECT_THAT(result.ids, ElementsAre(0, 2));
  EXPECT_THAT(result.scores, ElementsAre(5.5, 1.5));
}

TEST(Projection, ASoftcapBoundsScoresAndLeavesTheirOrder) {
  const Table table = MakeTable({{10}, {1}, {1000}, {-1000}});
  const std::vector<float> vectors = {1};

  ASSERT_OK_AND_ASSIGN(const Projection result,
                       Project(table, {.vectors = vectors, .top_k = 4, .softcap = 5.0}, OneThread));

  EXPECT_THAT(result.ids, ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(result.scores, ElementsAre(5, FloatEq(static_cast<float>(5 * std::tanh(2.0))),
                                         FloatEq(static_cast<float>(5 * std::tanh(0.2))), -5));
}

TEST(Projection, BitsDependOnNeitherTheOrderOfPiecesNorOtherVectors) {
  const Table table = SmallTable(30'000, 8, ElementType::kFloat32, 6);
  const std::vector<float> vectors = RandomVectors(7, 8);
  const ProjectionInput input = {.vectors = vectors, .top_k = 3, .scale = 0.3, .log_probabilities = true};

  ASSERT_OK_AND_ASSIGN(const Projection forwards, Project(table, input, OneThread));
  ASSERT_OK_AND_ASSIGN(const Projection backwards, Project(table, input, Backwards));
  ProjectionInput last = input;
  last.vectors = std::span(vectors).last(8);
  ASSERT_OK_AND_ASSIGN(const Projection alone, Project(table, last, OneThread));

  EXPECT_EQ(forwards.ids, backwards.ids);
  EXPECT_EQ(forwards.scores, backwards.scores);
  EXPECT_EQ(forwards.log_sum_exp, backwards.log_sum_exp);
  EXPECT_EQ(alone.log_sum_exp.front(), forwards.log_sum_exp.back());
  EXPECT_EQ(alone.scores.front(), forwards.scores[6 * 3]);
}

TEST(Projection, EndsWithWhatEndsTheWork) {
  const Table table = MakeTable({{1}});
  const std::vector<float> vectors = {1};
  const std::vector<std::int64_t> candidates = {0};
  const auto cancelled = [](std::int64_t, absl::FunctionRef<void(std::int64_t)>) {
    return absl::CancelledError("gone");
  };

  EXPECT_THAT(Project(table, {.vectors = vectors, .top_k = 1}, cancelled),
              StatusIs(absl::StatusCode::kCancelled, "gone"));
  EXPECT_THAT(Project(table, {.vectors = vectors, .candidates = candidates}, cancelled),
              StatusIs(absl::StatusCode::kCancelled, "gone"));
}

}  // namespace
}  // namespace embd::core
