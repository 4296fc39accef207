#include "client/cli/plot/axis.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace embd::cli::plot {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Scale = Axis::Scale;

std::vector<std::string> LabelsOf(const Axis& axis, int most) {
  std::vector<std::string> labels;
  for (const Tick& tick : axis.Ticks(most)) labels.push_back(tick.label);
  return labels;
}

TEST(PlotAxis, TicksAreRoundNumbersInsideTheInterval) {
  EXPECT_THAT(LabelsOf(ExactAxis("", Scale::kLinear, -1, 1), 6), ElementsAre("-1.0", "-0.5", "0.0", "0.5", "1.0"));
  EXPECT_THAT(LabelsOf(ExactAxis("", Scale::kLinear, 0.13, 0.28), 4), ElementsAre("0.15", "0.20", "0.25"));
  EXPECT_THAT(LabelsOf(ExactAxis("", Scale::kLinear, 0, 47117), 5),
              ElementsAre("0", "10000", "20000", "30000", "40000"));
}

TEST(PlotAxis, TicksOfWholeNumbersAreWhole) {
  EXPECT_THAT(LabelsOf(ExactAxis("", Scale::kWhole, 0.5, 3.5), 12), ElementsAre("1", "2", "3"));
  EXPECT_THAT(LabelsOf(ExactAxis("", Scale::kWhole, 0.1, 0.9), 12), IsEmpty());
}

TEST(PlotAxis, TicksAreNeverMoreThanAskedForAndAsManyAsCanBe) {
  for (const double high : {0.003, 0.7, 1.0, 6.0, 99.0, 12345.0}) {
    for (int most = 1; most <= 12; ++most) {
      const std::vector<Tick> ticks = ExactAxis("", Scale::kLinear, 0, high).Ticks(most);
      ASSERT_LE(ticks.size(), static_cast<std::size_t>(most)) << high;
      EXPECT_GE(static_cast<double>(ticks.size()), most / 2.5 - 1) << high << ", at most " << most;
    }
  }
}

TEST(PlotAxis, LabelsTellTicksOfANarrowIntervalApart) {
  const std::vector<std::string> labels = LabelsOf(ExactAxis("", Scale::kLinear, 5.65685424, 5.65685426), 4);

  EXPECT_THAT(labels, ElementsAre("5.65685424", "5.65685425", "5.65685426"));
}

TEST(PlotAxis, LabelsOfLargeAndTinyNumbersHaveExponents) {
  EXPECT_THAT(LabelsOf(ExactAxis("", Scale::kLinear, 0, 2e6), 3), ElementsAre("0", "1e+06", "2e+06"));
  EXPECT_THAT(LabelsOf(ExactAxis("", Scale::kLinear, 0, 2e-12), 3), ElementsAre("0", "1e-12", "2e-12"));
}

TEST(PlotAxis, LogarithmicTicksArePowersOfTenAndLieEvenly) {
  const Axis axis = RoundAxis("", Scale::kLogarithmic, {6.283, 47117.2});

  EXPECT_THAT(LabelsOf(axis, 6), ElementsAre("1", "10", "100", "1000", "10000", "100000"));
  EXPECT_THAT(LabelsOf(axis, 3), ElementsAre("1", "100", "10000"));
  EXPECT_NEAR(axis.At(1), 0, 1e-12);
  EXPECT_NEAR(axis.At(10), 0.2, 1e-12);
  EXPECT_NEAR(axis.At(100000), 1, 1e-12);
}

TEST(PlotAxis, RoundAxisEndsAtRoundNumbersAroundTheFiniteValues) {
  const Axis axis = RoundAxis("", Scale::kLinear, {0.966, NAN, 0.484, HUGE_VAL});

  EXPECT_DOUBLE_EQ(axis.low, 0.4);
  EXPECT_DOUBLE_EQ(axis.high, 1.0);
}

TEST(PlotAxis, EqualValuesOrNoneStillHaveAnInterval) {
  for (const std::vector<double>& values : {std::vector<double>{}, {NAN}, {0}, {-3, -3}, {1e9}}) {
    for (const Scale scale : {Scale::kLinear, Scale::kWhole, Scale::kLogarithmic}) {
      const Axis axis = RoundAxis("", scale, values);
      EXPECT_LT(axis.low, axis.high) << ::testing::PrintToString(values);
      EXPECT_FALSE(axis.Ticks(5).empty()) << ::testing::PrintToString(values);
    }
  }
}

}  // namespace
}  // namespace embd::cli::plot
