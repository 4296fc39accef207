// Sums whose order no SIMD width changes, included once for each SIMD target: plain code that each target's compiler
// vectorises. Hot path: no lock, no allocation, no log.

#if defined(EMBD_SERVER_CORE_KERNELS_FIXED_ORDER_SUM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef EMBD_SERVER_CORE_KERNELS_FIXED_ORDER_SUM_INL_H_
#undef EMBD_SERVER_CORE_KERNELS_FIXED_ORDER_SUM_INL_H_
#else
#define EMBD_SERVER_CORE_KERNELS_FIXED_ORDER_SUM_INL_H_
#endif

#include <array>
#include <cstddef>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace embd::core {
namespace HWY_NAMESPACE {

inline constexpr std::size_t kSums = 16;

// Adds term(i) for all i < count: each to sum i mod 16, in ascending order, and the sixteen pairwise (s0 + s8, …, then
// +4, +2, +1).
template <class Term>
HWY_INLINE double FixedOrderSum(std::size_t count, const Term& term) {
  std::array<double, kSums> sums = {};
  std::size_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) sums[j] += term(i + j);
  }
  for (std::size_t j = 0; i + j < count; ++j) sums[j] += term(i + j);
  for (std::size_t width = kSums / 2; width > 0; width /= 2) {
    for (std::size_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  }
  return sums[0];
}

}  // namespace HWY_NAMESPACE
}  // namespace embd::core
HWY_AFTER_NAMESPACE();

#endif  // EMBD_SERVER_CORE_KERNELS_FIXED_ORDER_SUM_INL_H_
