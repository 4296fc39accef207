#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_POSITION_WAVELENGTHS_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_POSITION_WAVELENGTHS_H_

#include <cstdint>
#include <optional>
#include <vector>

namespace embd::core {

/// How fast the bands of a position encoding turn. Each list has one value a band.
struct Wavelengths {
  std::vector<double> frequencies;  ///< radians a position
  std::vector<double> wavelengths;  ///< positions a turn, 2 pi / frequency; infinity where a band does not turn
  double shortest = 0;              ///< of the wavelengths; 0 without bands
  double longest = 0;               ///< likewise
  double ratio = 0;                 ///< the second wavelength divided by the first; 0 with less than two bands
  std::int64_t full_turns = 0;      ///< bands that turn once or more within the length given, or that turn at all
};

/// The wavelengths of bands of these frequencies, which are finite and >= 0. `length` is how many positions there are;
/// unset: any number. Cost: one division a band.
[[nodiscard]] Wavelengths PositionWavelengths(std::vector<double> frequencies, std::optional<std::int64_t> length);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_POSITION_WAVELENGTHS_H_
