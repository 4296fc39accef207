#include "client/cli/plot/colour_map.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace embd::cli::plot {

// A colour in Oklab, where equal distances look equal: lightness, green to red, blue to yellow.
struct ColourMap::Lab {
  double lightness;
  double a;
  double b;
};

namespace {

constexpr double kMaxByte = 255;

Colour Byte(double linear) {
  const double gamma = linear <= 0.0031308 ? 12.92 * linear : 1.055 * std::pow(linear, 1 / 2.4) - 0.055;
  return static_cast<Colour>(std::lround(std::clamp(gamma, 0.0, 1.0) * kMaxByte));
}

double Cube(double x) { return x * x * x; }

// Björn Ottosson's matrices.
Colour FromOklab(double lightness, double a, double b) {
  const double l = Cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = Cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = Cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  const Colour red = Byte(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  const Colour green = Byte(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  const Colour blue = Byte(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
  return red << 16U | green << 8U | blue;
}

}  // namespace

ColourMap::ColourMap(std::span<const Lab> anchors, double low, double high) : low_(low), high_(high) {
  for (std::size_t i = 0; i < colours_.size(); ++i) {
    const double place = static_cast<double>(i * (anchors.size() - 1)) / (kSteps - 1);
    const std::size_t left = std::min(static_cast<std::size_t>(place), anchors.size() - 2);
    const double share = place - static_cast<double>(left);
    const auto mix = [share](double from, double to) { return from + share * (to - from); };
    const Lab& from = anchors[left];
    const Lab& to = anchors[left + 1];
    colours_[i] = FromOklab(mix(from.lightness, to.lightness), mix(from.a, to.a), mix(from.b, to.b));
  }
}

ColourMap ColourMap::Sequential(double low, double high) {
  constexpr std::array<Lab, 5> kAnchors = {
      {{0.28, 0.075, -0.10}, {0.44, 0, -0.11}, {0.60, -0.085, -0.045}, {0.76, -0.145, 0.09}, {0.92, -0.045, 0.185}}};
  return {kAnchors, low, high};
}

ColourMap ColourMap::Diverging(double extent) {
  constexpr std::array<Lab, 5> kAnchors = {
      {{0.38, -0.02, -0.135}, {0.68, -0.045, -0.095}, {0.97, 0, 0}, {0.68, 0.115, 0.075}, {0.38, 0.125, 0.05}}};
  return {kAnchors, -extent, extent};
}

ColourMap ColourMap::For(std::span<const float> values) {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (low > high) return Sequential(0, 1);
  if (low < 0) return Diverging(std::max(-low, high));
  return low < high ? Sequential(low, high) : Sequential(low, low + 1);
}

Colour ColourMap::operator()(double value) const {
  if (std::isnan(value)) return kGrey;
  const double place = std::clamp((value - low_) / (high_ - low_), 0.0, 1.0);
  return colours_[static_cast<std::size_t>(std::lround(place * (kSteps - 1)))];
}

}  // namespace embd::cli::plot
