#ifndef EMBD_CLIENT_SRC_FLOAT_BITS_H_
#define EMBD_CLIENT_SRC_FLOAT_BITS_H_

#include <bit>
#include <cstdint>

// Between float32 and the 16-bit types, by bits: no branch, so that loops over rows become vector instructions, and no
// float16 or bfloat16 of the compiler's. Rounding is to nearest, ties to even. A NaN becomes a quiet one and keeps the
// upper bits of its payload.
namespace embd::client {

[[nodiscard]] inline float Bfloat16ToFloat(std::uint16_t bits) {
  const std::uint32_t quiet = (bits & 0x7FFF) > 0x7F80 ? 0x400000u : 0u;
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16 | quiet);
}

[[nodiscard]] inline std::uint16_t FloatToBfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40;
  return static_cast<std::uint16_t>((bits & 0x7FFFFFFF) > 0x7F800000 ? quiet : rounded);
}

[[nodiscard]] inline float HalfToFloat(std::uint16_t half) {
  const std::uint32_t magnitude = (static_cast<std::uint32_t>(half) & 0x7FFF) << 13;
  const std::uint32_t sign = (static_cast<std::uint32_t>(half) & 0x8000) << 16;
  constexpr std::uint32_t kRebias = 112u << 23;  // the exponents' biases are 127 and 15
  // A subnormal counts units of 2^-24: put below the bits of 2^-14, which is then taken away.
  const float subnormal = std::bit_cast<float>(magnitude + (113u << 23)) - std::bit_cast<float>(113u << 23);
  const std::uint32_t normal = magnitude + kRebias;
  const std::uint32_t special =
      magnitude | 0x7F800000 | (magnitude > (0x7C00u << 13) ? 0x400000u : 0u);  // infinity and NaN
  const std::uint32_t finite = magnitude < (1u << 23) ? std::bit_cast<std::uint32_t>(subnormal) : normal;
  return std::bit_cast<float>(sign | (magnitude >= (0x7C00u << 13) ? special : finite));
}

[[nodiscard]] inline std::uint16_t FloatToHalf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  const std::uint32_t normal = (magnitude - (112u << 23) + 0xFFF + ((magnitude >> 13) & 1)) >> 13;
  // Adding 0.5, whose last bit is 2^-24, rounds to the units of subnormals.
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - (126u << 23);
  const std::uint32_t finite = magnitude < (113u << 23) ? subnormal : normal;
  const std::uint32_t bounded = magnitude >= (143u << 23) ? 0x7C00u : finite;
  const std::uint32_t nan = 0x7E00u | ((magnitude >> 13) & 0x3FF);
  return static_cast<std::uint16_t>((magnitude > 0x7F800000 ? nan : bounded) | ((bits >> 16) & 0x8000));
}

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_FLOAT_BITS_H_
