#include "client/cli/plot/colour_map.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace embd::cli::plot {
namespace {

// CIE L*, how light a colour looks: 0 to 100.
double Lightness(Colour colour) {
  const auto linear = [colour](unsigned shift) {
    const double channel = static_cast<double>((colour >> shift) & 0xFFU) / 255;
    return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0);
  return luminance > 0.008856 ? 116 * std::cbrt(luminance) - 16 : 903.3 * luminance;
}

TEST(PlotColourMap, SequentialColoursGetLighterEvenly) {
  const ColourMap map = ColourMap::Sequential(0, 20);
  const double step = (Lightness(map(20)) - Lightness(map(0))) / 20;

  ASSERT_GT(step, 3);
  for (int i = 1; i <= 20; ++i) EXPECT_NEAR(Lightness(map(i)) - Lightness(map(i - 1)), step, step / 2) << i;
}

TEST(PlotColourMap, DivergingColoursAreWhiteAtZeroAndEquallyLightOnBothSides) {
  const ColourMap map = ColourMap::Diverging(2);

  EXPECT_GT(Lightness(map(0)), 95);
  for (const double value : {0.5, 1.0, 1.5, 2.0}) {
    EXPECT_NEAR(Lightness(map(value)), Lightness(map(-value)), 5) << value;
    EXPECT_LT(Lightness(map(value)), Lightness(map(value - 0.5))) << value;
    const Colour red = map(value);
    const Colour blue = map(-value);
    EXPECT_GT(red >> 16U, red & 0xFFU) << value;
    EXPECT_LT(blue >> 16U, blue & 0xFFU) << value;
  }
}

TEST(PlotColourMap, ValuesBelowZeroMakeItDiverge) {
  const ColourMap both = ColourMap::For(std::vector<float>{0.5F, -0.02F, NAN, HUGE_VALF});
  EXPECT_DOUBLE_EQ(both.low(), -0.5);
  EXPECT_DOUBLE_EQ(both.high(), 0.5);

  const ColourMap positive = ColourMap::For(std::vector<float>{1, 0.25F, NAN});
  EXPECT_DOUBLE_EQ(positive.low(), 0.25);
  EXPECT_DOUBLE_EQ(positive.high(), 1);
}

TEST(PlotColourMap, EqualValuesOrNoneHaveAColour) {
  EXPECT_EQ(ColourMap::For(std::vector<float>{3, 3})(3), ColourMap::Sequential(0, 1)(0));
  EXPECT_EQ(ColourMap::For(std::vector<float>{NAN})(NAN), kGrey);
}

TEST(PlotColourMap, SeriesOnWhiteAreVisibleAndDifferInLightnessOrHue) {
  for (std::size_t i = 0; i < kSeriesColours.size(); ++i) {
    EXPECT_LT(Lightness(kSeriesColours[i]), 75) << i;
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(kSeriesColours[i], kSeriesColours[j]);
  }
}

}  // namespace
}  // namespace embd::cli::plot
