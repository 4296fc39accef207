#include "client/cli/plot/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_format.h"

namespace embd::cli::plot {
namespace {

constexpr int kRoundedSteps = 6;  // of a round axis before its ends are known

// mantissa * 10^exponent.
struct Step {
  int mantissa;
  int exponent;

  // Exact for whole steps, correctly rounded for others that are not tiny.
  [[nodiscard]] double Times(double count) const {
    const double digits = count * mantissa;
    return exponent >= 0 ? digits * std::pow(10.0, exponent) : digits / std::pow(10.0, -exponent);
  }
};

struct Multiples {
  double first;
  double last;
  [[nodiscard]] double count() const { return last - first + 1; }
};

// How far off a count of steps may be by rounding, where counts are as large as that.
double RoundingSlack(double largest) { return 1e-9 + 4 * std::numeric_limits<double>::epsilon() * largest; }

Multiples Inside(Step step, double low, double high) {
  const double size = step.Times(1);
  const double slack = RoundingSlack(std::max(std::abs(low), std::abs(high)) / size);
  return {.first = std::ceil(low / size - slack), .last = std::floor(high / size + slack)};
}

// The smallest round step with at most `most` multiples in [low, high].
Step StepFor(double low, double high, int most, bool whole) {
  int exponent = static_cast<int>(std::floor(std::log10((high - low) / most))) - 1;
  if (whole) exponent = std::max(exponent, 0);
  for (;; ++exponent) {
    for (const int mantissa : {1, 2, 5}) {
      const Step step = {.mantissa = mantissa, .exponent = exponent};
      if (Inside(step, low, high).count() <= most) return step;
    }
  }
}

std::string LabelOf(double value, int exponent, double largest) {
  constexpr double kLongest = 1e6;
  constexpr int kMostDecimals = 9;
  if (largest < kLongest && exponent >= -kMostDecimals) return absl::StrFormat("%.*f", std::max(-exponent, 0), value);
  if (value == 0) return "0";
  const int digits = static_cast<int>(std::floor(std::log10(largest))) - exponent + 1;
  return absl::StrFormat("%.*g", std::max(digits, 1), value);
}

std::vector<Tick> LinearTicks(double low, double high, int most, bool whole) {
  const Step step = StepFor(low, high, most, whole);
  const Multiples inside = Inside(step, low, high);
  const double largest = std::max(std::abs(low), std::abs(high));
  std::vector<Tick> ticks;
  for (double i = inside.first; i <= inside.last; ++i) {
    const double value = i == 0 ? 0 : step.Times(i);  // never -0
    ticks.push_back({.value = value, .label = LabelOf(value, step.exponent, largest)});
  }
  return ticks;
}

std::vector<Tick> PowersOfTen(double low, double high, int most) {
  constexpr double kLargestPlain = 5;
  constexpr double kSmallestPlain = -4;
  const Multiples inside = {.first = std::ceil(std::log10(low) - RoundingSlack(1)),
                            .last = std::floor(std::log10(high) + RoundingSlack(1))};
  const double stride = std::max(1.0, std::ceil(inside.count() / most));
  std::vector<Tick> ticks;
  for (double i = inside.first; i <= inside.last; i += stride) {
    const bool plain = i >= kSmallestPlain && i <= kLargestPlain;
    const double value = std::pow(10.0, i);
    ticks.push_back({.value = value,
                     .label = plain ? absl::StrFormat("%.*f", std::max(static_cast<int>(-i), 0), value)
                                    : absl::StrFormat("1e%d", static_cast<int>(i))});
  }
  return ticks;
}

}  // namespace

double Axis::At(double value) const {
  if (scale == Scale::kLogarithmic) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<Tick> Axis::Ticks(int most) const {
  if (scale == Scale::kLogarithmic) return PowersOfTen(low, high, most);
  return LinearTicks(low, high, most, scale == Scale::kWhole);
}

Axis ExactAxis(std::string label, Axis::Scale scale, double low, double high) {
  constexpr double kLeastExtent = 1e-12;  // of the values, below which ticks would not tell them apart
  const double size = std::max(std::abs(low), std::abs(high));
  if (high - low <= kLeastExtent * size) {
    const double margin = size > 0 ? size / 2 : 1;
    low -= margin;
    high += margin;
  }
  return {.label = std::move(label), .scale = scale, .low = low, .high = high};
}

Axis RoundAxis(std::string label, Axis::Scale scale, const std::vector<double>& values) {
  const bool logarithmic = scale == Axis::Scale::kLogarithmic;
  double low = HUGE_VAL;
  double high = -HUGE_VAL;
  for (const double value : values) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (logarithmic) {
    if (low > high) low = high = 1;
    const double first = std::floor(std::log10(low));
    const double last = std::max(std::ceil(std::log10(high)), first + 1);
    return {.label = std::move(label), .scale = scale, .low = std::pow(10.0, first), .high = std::pow(10.0, last)};
  }
  if (low > high) low = high = 0;
  Axis axis = ExactAxis(std::move(label), scale, low, high);
  const Step step = StepFor(axis.low, axis.high, kRoundedSteps, scale == Axis::Scale::kWhole);
  const double slack = RoundingSlack(std::max(std::abs(axis.low), std::abs(axis.high)) / step.Times(1));
  axis.low = step.Times(std::floor(axis.low / step.Times(1) + slack));
  axis.high = step.Times(std::ceil(axis.high / step.Times(1) - slack));
  return axis;
}

}  // namespace embd::cli::plot
