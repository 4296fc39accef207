#ifndef EMBD_CLIENT_FAKE_PRODUCT_H_
#define EMBD_CLIENT_FAKE_PRODUCT_H_

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace embd::client::fake {

/// The product of factors >= 0, or nothing where it exceeds 2^63 - 1.
[[nodiscard]] inline std::optional<std::int64_t> Product(std::initializer_list<std::int64_t> factors) {
  std::int64_t product = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(product, factor, &product)) return std::nullopt;
  }
  return product;
}

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_PRODUCT_H_
