#ifndef EMBD_SERVER_CORE_KERNELS_LAYER_NORM_H_
#define EMBD_SERVER_CORE_KERNELS_LAYER_NORM_H_

#include <cstddef>
#include <vector>

namespace embd::core {

/// What layer normalisation multiplies and adds, as torch.nn.LayerNorm has it.
struct LayerNormParameters {
  std::vector<float> weight;
  std::vector<float> bias;  ///< as long as `weight`
  double eps = 1e-5;
};

/// Normalises `row_count` rows of weight.size() elements in place:
///
///     y = (x - mean) / sqrt(variance + eps) * weight + bias
///
/// with the biased variance. All of it in double, rounded to float32 once, so that a result is within one ulp of the
/// exact one of the float32 row. Sums are added in an order that is part of the contract and that no SIMD width
/// changes: element i goes to sum i mod 16, in ascending order, and the sixteen are added pairwise (s0 + s8, …, then
/// +4, +2, +1). Thread safety: thread-safe. Cost: three passes over a row in the cache.
void LayerNormRows(const LayerNormParameters& parameters, std::size_t row_count, float* rows);

/// The way back: `rows` hold what LayerNormRows would normalise, `gradients` the gradient with respect to its result,
/// of the same shape; `rows` become the gradient with respect to what they held:
///
///     dx = (g * weight - mean(g * weight) - n * mean(g * weight * n)) / sqrt(variance + eps)
///
/// where n = (x - mean) / sqrt(variance + eps). Rounding, order and thread safety as above. Cost: five passes.
void LayerNormBackwardRows(const LayerNormParameters& parameters, std::size_t row_count, const float* gradients,
                           float* rows);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_LAYER_NORM_H_
