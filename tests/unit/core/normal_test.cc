#include "server/core/table/normal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "gmock/gmock.h"

namespace embd::core {
namespace {

constexpr long double kTwoPi = 2 * std::numbers::pi_v<long double>;

// How far `value` is from `exact`, in units of the last place of a double of that size.
double UlpError(double value, long double exact) {
  const auto size = static_cast<double>(std::fabs(exact));
  if (size == 0.0) return value == 0.0 ? 0.0 : std::numeric_limits<double>::infinity();
  const double ulp = std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  return static_cast<double>(std::fabs(static_cast<long double>(value) - exact)) / ulp;
}

// sin(2·pi·turn) of a turn that is a multiple of 2^-53: brought to a quarter first, which is exact in long double.
long double SinOfTurn(long double turn) {
  turn -= std::round(turn);
  if (turn > 0.25L) turn = 0.5L - turn;
  if (turn < -0.25L) turn = -0.5L - turn;
  return std::sin(kTwoPi * turn);
}

// Multiples of 2^-53 in [0, 1]: random ones, and those at and around each eighth.
std::vector<double> Fractions() {
  std::vector<double> fractions;
  std::mt19937_64 random(5);
  for (int i = 0; i < 500000; ++i) fractions.push_back(static_cast<double>(random() >> 11) * 0x1p-53);
  for (int i = 0; i < 500000; ++i) fractions.push_back(std::ldexp(static_cast<double>(random() >> (11 + i % 53)), -53));
  for (int eighth = 0; eighth <= 8; ++eighth) {
    for (int step = -200; step <= 200; ++step) {
      const double fraction = eighth / 8.0 + step * 0x1p-53;
      if (fraction >= 0.0 && fraction <= 1.0) fractions.push_back(fraction);
    }
  }
  return fractions;
}

TEST(PortableLog, IsWithinTwoUlpOfTheExactValue) {
  double worst = 0.0;
  for (const double fraction : Fractions()) {
    if (fraction == 0.0) continue;
    worst = std::max(worst, UlpError(PortableLog(fraction), std::log(static_cast<long double>(fraction))));
  }
  std::mt19937_64 random(6);
  for (int i = 0; i < 100000; ++i) {
    const double x = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52, i % 2000 - 1000);
    worst = std::max(worst, UlpError(PortableLog(x), std::log(static_cast<long double>(x))));
  }

  RecordProperty("worst_ulp", std::to_string(worst));
  EXPECT_LE(worst, 2.0);
}

TEST(PortableLog, IsExactlyZeroAtOne) { EXPECT_EQ(PortableLog(1.0), 0.0); }

TEST(PortableSinCosOfTurn, IsWithinTwoUlpOfTheExactValues) {
  double worst_sin = 0.0;
  double worst_cos = 0.0;
  for (const double turn : Fractions()) {
    if (turn == 1.0) continue;
    const auto [sin, cos] = PortableSinCosOfTurn(turn);
    worst_sin = std::max(worst_sin, UlpError(sin, SinOfTurn(turn)));
    worst_cos = std::max(worst_cos, UlpError(cos, SinOfTurn(turn + 0.25L)));
  }

  RecordProperty("worst_sin_ulp", std::to_string(worst_sin));
  RecordProperty("worst_cos_ulp", std::to_string(worst_cos));
  EXPECT_LE(worst_sin, 2.0);
  EXPECT_LE(worst_cos, 2.0);
}

TEST(PortableSinCosOfTurn, IsExactAtQuarterTurns) {
  const double sines[] = {0, 1, 0, -1};
  const double cosines[] = {1, 0, -1, 0};
  for (int quarter = 0; quarter < 4; ++quarter) {
    SCOPED_TRACE(quarter);
    EXPECT_EQ(PortableSinCosOfTurn(quarter / 4.0).sin, sines[quarter]);
    EXPECT_EQ(PortableSinCosOfTurn(quarter / 4.0).cos, cosines[quarter]);
  }
}

TEST(StandardNormals, UseTheUpper53BitsOfEachPairOfWords) {
  const auto normals = StandardNormals({0x7FF, 0x80000000, 0x7FF, 0x20000000});  // u1 = 1/2 + 2^-53, u2 = 1/8

  const double r = std::sqrt(-2.0 * std::log(0.5 + 0x1p-53));
  EXPECT_NEAR(normals[0], r * std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(normals[1], r * std::sqrt(0.5), 1e-15);
}

TEST(StandardNormals, AreFiniteAtTheEndsOfTheRange) {
  EXPECT_NEAR(StandardNormals({0, 0, 0, 0})[0], 8.5717, 1e-4);
  EXPECT_LT(StandardNormals({0, 0, 0, 0})[0], 8.5717);
  EXPECT_EQ(StandardNormals({0xFFFFFFFF, 0xFFFFFFFF, 0, 0})[0], 0.0);
}

}  // namespace
}  // namespace embd::core
