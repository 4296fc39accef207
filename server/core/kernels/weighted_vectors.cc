#include "server/core/kernels/weighted_vectors.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "server/core/kernels/weighted_vectors.cc"
#include "hwy/foreach_target.h"
// After foreach_target, which includes this file once for each target.
#include "server/core/kernels/fixed_order_sum-inl.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

void DotEach(std::span<const double> row, const float* vectors, std::span<double> out) {
  const double* const x = row.data();
  for (double& dot : out) {
    dot = FixedOrderSum(row.size(),
                        [x, vectors](std::size_t i) HWY_ATTR { return x[i] * static_cast<double>(vectors[i]); });
    vectors += row.size();
  }
}

void AddWeighted(std::span<const double> weights, const float* vectors, std::span<double> sum) {
  std::fill(sum.begin(), sum.end(), 0.0);
  double* HWY_RESTRICT const out = sum.data();
  for (const double weight : weights) {
    for (std::size_t d = 0; d < sum.size(); ++d) out[d] += weight * static_cast<double>(vectors[d]);
    vectors += sum.size();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace embd::core {

HWY_EXPORT(DotEach);
HWY_EXPORT(AddWeighted);

void DotEach(std::span<const double> row, const float* vectors, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(DotEach)(row, vectors, out);
}

void AddWeighted(std::span<const double> weights, const float* vectors, std::span<double> sum) {
  HWY_DYNAMIC_DISPATCH(AddWeighted)(weights, vectors, sum);
}

}  // namespace embd::core
#endif
