#ifndef EMBD_CLIENT_CLI_PLOT_COLOUR_MAP_H_
#define EMBD_CLIENT_CLI_PLOT_COLOUR_MAP_H_

#include <array>
#include <cstdint>
#include <span>

namespace embd::cli::plot {

/// An opaque sRGB colour, 0xRRGGBB.
using Colour = std::uint32_t;

inline constexpr Colour kWhite = 0xFFFFFF;
inline constexpr Colour kBlack = 0x000000;
inline constexpr Colour kGrey = 0x808080;       ///< of cells without a value
inline constexpr Colour kLightGrey = 0xDDDDDD;  ///< of grid lines

/// The colours of series by Okabe and Ito, which people with any colour vision tell apart; without yellow, which is
/// hard to see on white, and with black last.
inline constexpr std::array<Colour, 7> kSeriesColours = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7,
                                                         0xE69F00, 0x56B4E9, 0x000000};

/// Colours for the numbers of an interval.
class ColourMap {
 public:
  /// Dark violet to bright yellow. Lightness rises evenly, so that equal differences look equal, also in grey.
  [[nodiscard]] static ColourMap Sequential(double low, double high);

  /// Blue over white to red, white at 0. The two sides are equally light, and blue and red look different to everybody.
  [[nodiscard]] static ColourMap Diverging(double extent);

  /// Sequential from the smallest to the largest of the finite values, or Diverging where one is negative.
  [[nodiscard]] static ColourMap For(std::span<const float> values);

  /// The colour of a value; of the nearer end outside the interval, kGrey for NaN.
  [[nodiscard]] Colour operator()(double value) const;

  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  static constexpr int kSteps = 256;
  struct Lab;
  ColourMap(std::span<const Lab> anchors, double low, double high);

  double low_;
  double high_;
  std::array<Colour, kSteps> colours_{};
};

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_COLOUR_MAP_H_
