#include "client/cli/commands/ulp_difference.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

using testing::Floats;
using testing::MakeTensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kTiny = 0x1p-149F;

std::optional<std::uint64_t> Between(float a, float b) {
  return UlpDistance(Floats({1}, {a}).view(), Floats({1}, {b}).view(), 0);
}

std::optional<std::uint64_t> BitsBetween(DataType type, std::uint16_t a, std::uint16_t b) {
  return UlpDistance(MakeTensor<std::uint16_t>(type, {1}, {a}).view(), MakeTensor<std::uint16_t>(type, {1}, {b}).view(),
                     0);
}

TEST(UlpDistance, CountsRepresentableValues) {
  EXPECT_EQ(Between(1, 1), 0u);
  EXPECT_EQ(Between(1, 1 + 0x1p-23F), 1u);
  EXPECT_EQ(Between(1 + 0x1p-23F, 1), 1u);
  EXPECT_EQ(Between(1, 2), 1u << 23);
  EXPECT_EQ(Between(-1, -1 - 0x1p-22F), 2u);
}

TEST(UlpDistance, GoesOnAcrossPowersOfTwo) { EXPECT_EQ(Between(1 - 0x1p-24F, 1 + 0x1p-23F), 2u); }

TEST(UlpDistance, CountsSubnormalsAsTheyAre) {
  EXPECT_EQ(Between(0, kTiny), 1u);
  EXPECT_EQ(Between(kTiny, 3 * kTiny), 2u);
  EXPECT_EQ(Between(std::numeric_limits<float>::min() - kTiny, std::numeric_limits<float>::min()), 1u);
}

TEST(UlpDistance, TakesBothZerosForOne) {
  EXPECT_EQ(Between(0.0F, -0.0F), 0u);
  EXPECT_EQ(Between(-0.0F, kTiny), 1u);
  EXPECT_EQ(Between(-kTiny, kTiny), 2u);
}

TEST(UlpDistance, PutsInfinityBehindTheLargestNumber) {
  EXPECT_EQ(Between(kInfinity, kInfinity), 0u);
  EXPECT_EQ(Between(kInfinity, std::numeric_limits<float>::max()), 1u);
  EXPECT_EQ(Between(-kInfinity, kInfinity), 2u * 0x7F80'0000u);
}

TEST(UlpDistance, KnowsNoneBetweenNanAndNumbers) {
  EXPECT_EQ(Between(kNan, kNan), 0u);
  EXPECT_EQ(Between(kNan, -kNan), 0u);
  EXPECT_EQ(Between(kNan, kInfinity), std::nullopt);
  EXPECT_EQ(Between(0, kNan), std::nullopt);
}

TEST(UlpDistance, CountsInTheTypeOfTheTensors) {
  EXPECT_EQ(BitsBetween(DataType::kBFloat16, 0x3F80, 0x3F81), 1u);  // 1 and 1 + 2^-7
  EXPECT_EQ(BitsBetween(DataType::kBFloat16, 0x0001, 0x8001), 2u);
  EXPECT_EQ(BitsBetween(DataType::kBFloat16, 0x7FC0, 0xFF81), 0u);  // NaN and NaN
  EXPECT_EQ(BitsBetween(DataType::kFloat16, 0x3BFF, 0x3C01), 2u);   // around 1
  EXPECT_EQ(BitsBetween(DataType::kFloat16, 0x7C00, 0x7BFF), 1u);   // infinity and 65504
  EXPECT_EQ(BitsBetween(DataType::kFloat16, 0x7C01, 0x7BFF), std::nullopt);
}

TEST(CompareCells, FindsTensorsEqualThatAre) {
  const Tensor tensor = Floats({2, 2}, {1, -0.0F, kNan, kInfinity});

  const UlpDifference difference = CompareCells(tensor.view(), tensor.view());

  EXPECT_EQ(difference.cells, 4u);
  EXPECT_EQ(difference.equal, 4u);
  EXPECT_EQ(difference.first, std::nullopt);
  EXPECT_TRUE(difference.Within(0));
}

TEST(CompareCells, NamesTheFirstCellAndTheLargestDifference) {
  const UlpDifference difference =
      CompareCells(Floats({4}, {1, 2, 3, 0}).view(), Floats({4}, {1, 2 + 0x1p-22F, 3 + 0x5p-22F, 0}).view());

  EXPECT_EQ(difference.equal, 2u);
  EXPECT_EQ(difference.first, 1u);
  EXPECT_EQ(difference.largest, 5u);
  EXPECT_FALSE(difference.Within(4));
  EXPECT_TRUE(difference.Within(5));
}

TEST(CompareCells, CallsZerosOfBothSignsNotEqualButWithinNothing) {
  const UlpDifference difference = CompareCells(Floats({1}, {0.0F}).view(), Floats({1}, {-0.0F}).view());

  EXPECT_EQ(difference.equal, 0u);
  EXPECT_EQ(difference.first, 0u);
  EXPECT_TRUE(difference.Within(0));
}

TEST(CompareCells, IsNeverWithinWhereOneIsNan) {
  const UlpDifference difference = CompareCells(Floats({2}, {1, kNan}).view(), Floats({2}, {1, 1}).view());

  EXPECT_EQ(difference.one_nan, 1u);
  EXPECT_EQ(difference.largest, 0u);
  EXPECT_FALSE(difference.Within(std::numeric_limits<std::uint64_t>::max()));
}

TEST(CompareCells, OfNothingAreEqual) {
  EXPECT_TRUE(CompareCells(Floats({0, 2}, {}).view(), Floats({0, 2}, {}).view()).Within(0));
}

}  // namespace
}  // namespace embd::cli
