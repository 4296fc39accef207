#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_FIXED_ORDER_DOT_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_FIXED_ORDER_DOT_H_

#include <cstddef>
#include <span>

namespace embd::core {

/// The dot product of two vectors of one size, added in an order that is part of the contract, so that no compiler,
/// SIMD width or thread count changes a bit: element i goes to sum i mod 8, in ascending order, and the eight sums are
/// combined as ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7)).
[[nodiscard]] inline double FixedOrderDot(std::span<const double> a, std::span<const double> b) {
  constexpr std::size_t kSums = 8;
  double sums[kSums] = {};
  const std::size_t size = a.size();
  std::size_t i = 0;
  for (; i + kSums <= size; i += kSums) {
    for (std::size_t j = 0; j < kSums; ++j) sums[j] += a[i + j] * b[i + j];
  }
  for (std::size_t j = 0; i + j < size; ++j) sums[j] += a[i + j] * b[i + j];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_FIXED_ORDER_DOT_H_
