#ifndef EMBD_SERVER_CORE_TENSOR_CHECKED_MATH_H_
#define EMBD_SERVER_CORE_TENSOR_CHECKED_MATH_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>

namespace embd::core {

/// The product of sizes, or nothing where a factor is negative or the product exceeds 2^63 - 1. The product of no
/// factors is 1; a zero factor makes it 0 whatever the others are.
[[nodiscard]] constexpr std::optional<std::int64_t> CheckedProduct(std::initializer_list<std::int64_t> factors) {
  bool zero = false;
  for (const std::int64_t factor : factors) {
    if (factor < 0) return std::nullopt;
    zero = zero || factor == 0;
  }
  if (zero) return 0;
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (product > std::numeric_limits<std::int64_t>::max() / factor) return std::nullopt;
    product *= factor;
  }
  return product;
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TENSOR_CHECKED_MATH_H_
