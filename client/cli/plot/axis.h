#ifndef EMBD_CLIENT_CLI_PLOT_AXIS_H_
#define EMBD_CLIENT_CLI_PLOT_AXIS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace embd::cli::plot {

/// A marked place of an axis.
struct Tick {
  double value = 0;
  std::string label = {};
};

/// The numbers that an axis shows.
struct Axis {
  enum class Scale : std::uint8_t {
    kLinear,
    kWhole,        ///< linear, with ticks at whole numbers only
    kLogarithmic,  ///< with ticks at powers of ten; low is above 0
  };

  std::string label = {};
  Scale scale = Scale::kLinear;
  double low = 0;
  double high = 1;  ///< above low

  /// Where a value lies: 0 at low, 1 at high.
  [[nodiscard]] double At(double value) const;

  /// The most round numbers in [low, high] that are not more than `most` (at least 1): multiples of 1, 2 or 5 times a
  /// power of ten, ascending, with labels that tell them apart. May be none.
  [[nodiscard]] std::vector<Tick> Ticks(int most) const;
};

/// An axis over all of `values` that are finite (positive too on a logarithmic one), with round numbers as its ends.
/// Values that are all equal, or none, get an interval around them.
[[nodiscard]] Axis RoundAxis(std::string label, Axis::Scale scale, const std::vector<double>& values);

/// An axis from `low` to `high` exactly, or around them where they are equal.
[[nodiscard]] Axis ExactAxis(std::string label, Axis::Scale scale, double low, double high);

}  // namespace embd::cli::plot

#endif  // EMBD_CLIENT_CLI_PLOT_AXIS_H_
