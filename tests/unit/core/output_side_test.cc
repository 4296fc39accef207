#include "server/core/engine/output_side.h"

#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"
#include "tests/unit/core/gradient_golden.h"

namespace embd::core {
namespace {

using ::embd::testing::MakeFloatTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

Table GoldenTable(std::int64_t rows, std::int64_t dim) {
  return MakeFloatTable(rows, dim, GoldenValues(1, rows * dim));
}

TEST(OutputSide, LossAndNormsOfAllRowsEqualAutograd) {
  const auto golden = ReadGradientGolden();
  struct Case {
    std::string name;
    std::int64_t rows;
    std::int64_t dim;
    std::vector<std::int64_t> targets;
  };
  for (const Case& each : {Case{"output", 11, 6, {3, 3, 10, 0}}, Case{"wide", 300, 33, {7}}}) {
    SCOPED_TRACE(each.name);
    const auto count = static_cast<std::int64_t>(each.targets.size());

    const auto gradient = GradientOfOutputSide(GoldenTable(each.rows, each.dim), each.targets,
                                               GoldenValues(7, count * each.dim), OneThread);

    ASSERT_TRUE(gradient.ok()) << gradient.status();
    EXPECT_NEAR(gradient->loss, golden.at({each.name, "loss"}).elements[0], 1e-12);
    EXPECT_THAT(gradient->row_norms, Pointwise(DoubleNear(1e-12), golden.at({each.name, "norms"}).elements));
  }
}

TEST(OutputSide, ThreadsChangeNoBit) {
  const Table table = GoldenTable(1000, 70);
  const std::vector<std::int64_t> targets = {5, 999, 64};
  const std::vector<float> hidden = GoldenValues(7, 3 * 70);

  const auto one = GradientOfOutputSide(table, targets, hidden, OneThread);
  const auto many =
      GradientOfOutputSide(table, targets, hidden, [](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
        std::vector<std::thread> threads;
        for (std::int64_t i = count; i-- > 0;) threads.emplace_back([&piece, i] { piece(i); });
        for (std::thread& thread : threads) thread.join();
        return absl::OkStatus();
      });

  ASSERT_TRUE(one.ok() && many.ok());
  EXPECT_EQ(one->loss, many->loss);
  EXPECT_EQ(one->row_norms, many->row_norms);
}

TEST(OutputSide, EndsWhereTheWorkIsEnded) {
  EXPECT_THAT(GradientOfOutputSide(
                  GoldenTable(3, 1), std::vector<std::int64_t>{0}, std::vector<float>{1},
                  [](std::int64_t, absl::FunctionRef<void(std::int64_t)>) { return absl::CancelledError("enough"); }),
              StatusIs(absl::StatusCode::kCancelled, "enough"));
}

TEST(OutputSide, RefusesCountsAndTargets) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  const Table table = GoldenTable(3, 2);
  const auto ask = [&table](std::vector<std::int64_t> targets, std::size_t elements) {
    return GradientOfOutputSide(table, targets, std::vector<float>(elements), OneThread);
  };

  EXPECT_THAT(ask({}, 0),
              AllOf(StatusIs(kInvalid, HasSubstr("0 values, allowed are 1 to 1024")), ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(ask(std::vector<std::int64_t>(1025), 2050), StatusIs(kInvalid, HasSubstr("1025 values")));
  EXPECT_THAT(ask({0}, 3), AllOf(StatusIs(kInvalid, HasSubstr("hidden has 3 elements")), ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(ask({0, 3}, 4), AllOf(StatusIs(kInvalid, "output_side.target_ids[1] = 3 is outside [0, 3)"),
                                    ReasonIs("ID_OUT_OF_RANGE")));
}

}  // namespace
}  // namespace embd::core
