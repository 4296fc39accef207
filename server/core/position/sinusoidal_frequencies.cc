#include "server/core/position/sinusoidal_frequencies.h"

#include <cmath>

namespace embd::core {

std::int64_t SineColumns(std::int64_t dim, SinusoidalLayout layout) {
  return layout == SinusoidalLayout::kTensor2Tensor ? dim / 2 : (dim + 1) / 2;
}

double SinusoidalFrequency(std::int64_t i, std::int64_t dim, const SinusoidalFormula& formula) {
  const std::int64_t half = dim / 2;
  const double exponent = formula.layout == SinusoidalLayout::kTensor2Tensor
                              ? static_cast<double>(i) / static_cast<double>(half - 1)
                              : static_cast<double>(2 * i) / static_cast<double>(dim);
  return std::pow(formula.base, -exponent);
}

std::vector<SinusoidalBand> SinusoidalBands(std::int64_t dim, const SinusoidalFormula& formula) {
  const bool in_turns = formula.layout == SinusoidalLayout::kInterleaved;
  const std::int64_t sines = SineColumns(dim, formula.layout);
  std::vector<SinusoidalBand> bands;
  for (std::int64_t i = 0; i < dim / 2; ++i) {
    bands.push_back({.sine = in_turns ? 2 * i : i,
                     .cosine = in_turns ? 2 * i + 1 : sines + i,
                     .frequency = SinusoidalFrequency(i, dim, formula)});
  }
  return bands;
}

}  // namespace embd::core
