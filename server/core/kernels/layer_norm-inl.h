// The loops of LayerNorm, included once for each SIMD target: plain code that each target's compiler vectorises, since
// the order of additions is fixed. Hot path: no lock, no allocation, no log.

#if defined(EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
#undef EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
#else
#define EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
#endif

#include <cmath>

#include "hwy/highway.h"
#include "server/core/kernels/fixed_order_sum-inl.h"
#include "server/core/kernels/layer_norm.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

// What turns an element of a row into a normal one: (x - mean) * factor.
struct Moments {
  double mean;
  double factor;
};

HWY_INLINE Moments MomentsOf(const float* row, std::size_t dim, double eps) {
  const auto count = static_cast<double>(dim);
  const double mean = FixedOrderSum(dim, [row](std::size_t i) HWY_ATTR { return static_cast<double>(row[i]); }) / count;
  const double variance = FixedOrderSum(dim,
                                        [row, mean](std::size_t i) HWY_ATTR {
                                          const double centred = static_cast<double>(row[i]) - mean;
                                          return centred * centred;
                                        }) /
                          count;
  return {.mean = mean, .factor = 1.0 / std::sqrt(variance + eps)};
}

HWY_INLINE void NormaliseRows(const LayerNormParameters& parameters, std::size_t row_count, float* rows) {
  const std::size_t dim = parameters.weight.size();
  const float* const weight = parameters.weight.data();
  const float* const bias = parameters.bias.data();
  for (std::size_t r = 0; r < row_count; ++r) {
    float* const row = rows + r * dim;
    const Moments moments = MomentsOf(row, dim, parameters.eps);
    for (std::size_t i = 0; i < dim; ++i) {
      const double normal = (static_cast<double>(row[i]) - moments.mean) * moments.factor;
      row[i] = static_cast<float>(normal * static_cast<double>(weight[i]) + static_cast<double>(bias[i]));
    }
  }
}

// `rows` are what was normalised, and become the gradient with respect to it.
HWY_INLINE void GoBackRows(const LayerNormParameters& parameters, std::size_t row_count, const float* gradients,
                           float* rows) {
  const std::size_t dim = parameters.weight.size();
  const float* const weight = parameters.weight.data();
  const auto count = static_cast<double>(dim);
  for (std::size_t r = 0; r < row_count; ++r) {
    float* const row = rows + r * dim;
    const float* const gradient = gradients + r * dim;
    const Moments moments = MomentsOf(row, dim, parameters.eps);
    const auto weighted = [gradient, weight](std::size_t i)
                              HWY_ATTR { return static_cast<double>(gradient[i]) * static_cast<double>(weight[i]); };
    const auto normal = [row, moments](std::size_t i)
                            HWY_ATTR { return (static_cast<double>(row[i]) - moments.mean) * moments.factor; };
    const double mean = FixedOrderSum(dim, weighted) / count;
    const double slope =
        FixedOrderSum(dim, [&weighted, &normal](std::size_t i) HWY_ATTR { return weighted(i) * normal(i); }) / count;
    for (std::size_t i = 0; i < dim; ++i) {
      row[i] = static_cast<float>(moments.factor * (weighted(i) - mean - normal(i) * slope));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#endif  // EMBD_SERVER_CORE_KERNELS_LAYER_NORM_INL_H_
