#ifndef EMBD_SERVER_CORE_POSITION_SINUSOIDAL_FREQUENCIES_H_
#define EMBD_SERVER_CORE_POSITION_SINUSOIDAL_FREQUENCIES_H_

#include <cstdint>
#include <vector>

#include "server/core/position/sinusoidal.h"

namespace embd::core {

/// How many columns of a row of width `dim` are sines. Of kHalf with an odd width the last one has no cosine.
[[nodiscard]] std::int64_t SineColumns(std::int64_t dim, SinusoidalLayout layout);

/// By how many radians sine column `i` of a row of width `dim` turns from one position to the next.
[[nodiscard]] double SinusoidalFrequency(std::int64_t i, std::int64_t dim, const SinusoidalFormula& formula);

/// A sine and a cosine that turn together.
struct SinusoidalBand {
  std::int64_t sine = 0;    ///< column
  std::int64_t cosine = 0;  ///< column
  double frequency = 0;     ///< radians a position
};

/// The dim/2 bands of rows of width `dim`, which fits the layout (SinusoidalRows::Create), in order of their sines.
[[nodiscard]] std::vector<SinusoidalBand> SinusoidalBands(std::int64_t dim, const SinusoidalFormula& formula);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_SINUSOIDAL_FREQUENCIES_H_
