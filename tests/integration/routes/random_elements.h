#ifndef EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_ELEMENTS_H_
#define EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_ELEMENTS_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "embd/v1/tensor.pb.h"
#include "tests/integration/routes/draw.h"

namespace embd::testing {

/// An element's bits: a sign, a magnitude of about 2^-15 to 2^15, and a mantissa.
template <typename Element>
Element RandomElement(Draw& draw, int mantissa_bits, int bias) {
  const auto mantissa = draw.Bits() & ((std::uint64_t{1} << mantissa_bits) - 1);
  const auto exponent = static_cast<std::uint64_t>(bias + draw.Integer(-14, 14)) << mantissa_bits;
  const std::uint64_t sign = (draw.Bits() & 1) << (sizeof(Element) * 8 - 1);
  return static_cast<Element>(sign | exponent | mantissa);
}

/// The bytes of `count` finite elements of a type that tables or vectors have.
inline std::string RandomElements(Draw& draw, v1::DataType type, std::int64_t count) {
  std::string bytes;
  const auto add = [&bytes](auto element) { bytes.append(reinterpret_cast<const char*>(&element), sizeof(element)); };
  for (std::int64_t i = 0; i < count; ++i) {
    switch (type) {
      case v1::DATA_TYPE_FLOAT16: add(RandomElement<std::uint16_t>(draw, 10, 15)); break;
      case v1::DATA_TYPE_BFLOAT16: add(RandomElement<std::uint16_t>(draw, 7, 127)); break;
      case v1::DATA_TYPE_FLOAT64: add(RandomElement<std::uint64_t>(draw, 52, 1023)); break;
      default: add(RandomElement<std::uint32_t>(draw, 23, 127));
    }
  }
  return bytes;
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_ROUTES_RANDOM_ELEMENTS_H_
