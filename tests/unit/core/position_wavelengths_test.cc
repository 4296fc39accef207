#include "server/core/diagnostics/position_wavelengths.h"

#include <limits>
#include <numbers>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/position/rotary.h"
#include "server/core/position/sinusoidal_frequencies.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pointwise;
using ::testing::SizeIs;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> Frequencies(std::int64_t dim, const SinusoidalFormula& formula = {}) {
  std::vector<double> frequencies;
  for (const SinusoidalBand& band : SinusoidalBands(dim, formula)) frequencies.push_back(band.frequency);
  return frequencies;
}

TEST(PositionWavelengths, OfWidth64And32AreTheLessons) {
  const Wavelengths wide = PositionWavelengths(Frequencies(64), 128);
  const Wavelengths narrow = PositionWavelengths(Frequencies(32), std::nullopt);

  EXPECT_THAT(wide.wavelengths, SizeIs(32));
  EXPECT_THAT(narrow.wavelengths, SizeIs(16));
  EXPECT_NEAR(wide.shortest, 6.283185, 1e-6);
  EXPECT_NEAR(narrow.shortest, 6.283185, 1e-6);
  EXPECT_NEAR(wide.longest, 47117.243, 1e-3);
  EXPECT_NEAR(narrow.longest, 35332.948, 1e-3);
  EXPECT_NEAR(wide.ratio, 1.333521, 1e-6);
  EXPECT_NEAR(narrow.ratio, 1.778279, 1e-6);
  EXPECT_EQ(wide.full_turns, 11) << "2 pi 10000^(i/32) is at most 128 for i up to 10";
  EXPECT_EQ(narrow.full_turns, 16) << "without a length all turn";
  for (std::size_t i = 0; i < wide.wavelengths.size(); ++i) {
    EXPECT_NEAR(wide.wavelengths[i] * wide.frequencies[i], 2 * std::numbers::pi, 1e-14);
  }
}

TEST(PositionWavelengths, OfTensor2TensorReachTheWholeBase) {
  const Wavelengths result = PositionWavelengths(Frequencies(16, {.layout = SinusoidalLayout::kTensor2Tensor}), 1000);

  EXPECT_THAT(result.wavelengths,
              Pointwise(DoubleNear(1e-3), std::vector<double>{6.28318531, 23.4211621, 87.3045767, 325.435992,
                                                              1213.09316, 4521.91845, 16855.8748, 62831.8531}));
  EXPECT_EQ(result.full_turns, 4);
}

TEST(PositionWavelengths, OfRotaryParametersFollowTheirScaling) {
  ASSERT_OK_AND_ASSIGN(const RotaryFrequencies linear,
                       ResolveRotary({.head_dim = 8, .scaling = {.type = "linear", .factor = 4.0}}, 1));
  ASSERT_OK_AND_ASSIGN(const RotaryFrequencies proportional,
                       ResolveRotary({.head_dim = 8, .rotary_dim = 4, .scaling = {.type = "proportional"}}, 1));

  const double turn = 2 * std::numbers::pi;
  EXPECT_THAT(PositionWavelengths(linear.inv_freq, std::nullopt).wavelengths,
              Pointwise(DoubleNear(1e-9), std::vector<double>{4 * turn, 40 * turn, 400 * turn, 4000 * turn}));
  const Wavelengths partial = PositionWavelengths(proportional.inv_freq, std::nullopt);
  EXPECT_THAT(partial.wavelengths,
              ElementsAre(DoubleNear(turn, 1e-12), DoubleNear(10 * turn, 1e-9), kInfinity, kInfinity));
  EXPECT_EQ(partial.longest, kInfinity);
  EXPECT_EQ(partial.full_turns, 2);
}

TEST(PositionWavelengths, GrowShorterWithABaseBelowOne) {
  const Wavelengths result = PositionWavelengths(Frequencies(4, {.base = 0.25}), std::nullopt);

  EXPECT_NEAR(result.ratio, 0.5, 1e-15);
  EXPECT_EQ(result.shortest, result.wavelengths[1]);
  EXPECT_EQ(result.longest, result.wavelengths[0]);
}

TEST(PositionWavelengths, HaveNoRatioWithOneBandAndNothingWithNone) {
  const Wavelengths one = PositionWavelengths({2.0}, 3);
  EXPECT_EQ(one.ratio, 0);
  EXPECT_EQ(one.full_turns, 0) << "a turn takes more than 3 positions";

  const Wavelengths none = PositionWavelengths({}, std::nullopt);
  EXPECT_THAT(none.wavelengths, IsEmpty());
  EXPECT_EQ(none.shortest, 0);
}

TEST(SinusoidalBands, AreWhereTheLayoutHasThem) {
  const auto columns = [](std::int64_t dim, SinusoidalLayout layout) {
    std::vector<std::vector<std::int64_t>> result;
    for (const SinusoidalBand& band : SinusoidalBands(dim, {.layout = layout})) {
      result.push_back({band.sine, band.cosine});
    }
    return result;
  };
  using Columns = std::vector<std::vector<std::int64_t>>;

  EXPECT_EQ(columns(4, SinusoidalLayout::kInterleaved), (Columns{{0, 1}, {2, 3}}));
  EXPECT_EQ(columns(5, SinusoidalLayout::kHalf), (Columns{{0, 3}, {1, 4}}));
  EXPECT_EQ(columns(5, SinusoidalLayout::kTensor2Tensor), (Columns{{0, 2}, {1, 3}}));
}

}  // namespace
}  // namespace embd::core
