// The loops of LayerNorm, included once for each SIMD target: plain code that each target's compiler vectorises, since
// the order of additions is fixed. Hot path: no lock, no allocation, no log.

#if defined(EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
#undef EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
#else
#define EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
#endif

#include <array>
#include <cmath>

#include "hwy/highway.h"
#include "server/core/kernels/layer_norm.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

inline constexpr std::size_t kSums = 16;

// Adds what `term` makes of each element, in the order that layer_norm.h tells.
template <class TermOf>
HWY_INLINE double FixedOrderSum(const float* row, std::size_t dim, const TermOf& term) {
  std::array<double, kSums> sums = {};
  std::size_t i = 0;
  for (; i + kSums <= dim; i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) sums[j] += term(static_cast<double>(row[i + j]));
  }
  for (std::size_t j = 0; i + j < dim; ++j) sums[j] += term(static_cast<double>(row[i + j]));
  for (std::size_t width = kSums / 2; width > 0; width /= 2) {
    for (std::size_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  }
  return sums[0];
}

HWY_INLINE void NormaliseRows(const LayerNormParameters& parameters, std::size_t row_count, float* rows) {
  const std::size_t dim = parameters.weight.size();
  const float* const weight = parameters.weight.data();
  const float* const bias = parameters.bias.data();
  const auto count = static_cast<double>(dim);
  for (std::size_t r = 0; r < row_count; ++r) {
    float* const row = rows + r * dim;
    const double mean = FixedOrderSum(row, dim, [](double x) HWY_ATTR { return x; }) / count;
    const double variance =
        FixedOrderSum(row, dim, [mean](double x) HWY_ATTR { return (x - mean) * (x - mean); }) / count;
    const double factor = 1.0 / std::sqrt(variance + parameters.eps);
    for (std::size_t i = 0; i < dim; ++i) {
      const double normal = (static_cast<double>(row[i]) - mean) * factor;
      row[i] = static_cast<float>(normal * static_cast<double>(weight[i]) + static_cast<double>(bias[i]));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#endif  // EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
