#include "server/core/diagnostics/position_wavelengths.h"

#include <algorithm>
#include <limits>
#include <numbers>
#include <utility>

namespace embd::core {

Wavelengths PositionWavelengths(std::vector<double> frequencies, std::optional<std::int64_t> length) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  Wavelengths result;
  const double limit = length.has_value() ? static_cast<double>(*length) : std::numeric_limits<double>::max();
  for (const double frequency : frequencies) {
    const double wavelength = frequency == 0 ? kInfinity : 2 * std::numbers::pi / frequency;
    result.wavelengths.push_back(wavelength);
    if (wavelength <= limit) ++result.full_turns;
  }
  result.frequencies = std::move(frequencies);
  if (result.wavelengths.empty()) return result;
  const auto [shortest, longest] = std::minmax_element(result.wavelengths.begin(), result.wavelengths.end());
  result.shortest = *shortest;
  result.longest = *longest;
  if (result.wavelengths.size() > 1) result.ratio = result.wavelengths[1] / result.wavelengths[0];
  return result;
}

}  // namespace embd::core
