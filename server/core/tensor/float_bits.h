#ifndef EMBD_SERVER_CORE_TENSOR_FLOAT_BITS_H_
#define EMBD_SERVER_CORE_TENSOR_FLOAT_BITS_H_

#include <bit>
#include <cstdint>

namespace embd::core {

// Conversions between float32 and the 16-bit types, one value at a time and with integer arithmetic only, so that the
// rounding mode, flush-to-zero and the CPU's own instructions have no say. Kernels do the same on vectors; these are
// what they are tested against.

/// The float16 next to `value`: to nearest, ties to even.
///
/// From 65520 upwards the result is infinite, down to 2^-24 subnormal, at 2^-25 and below a zero that keeps its sign.
/// A NaN keeps its sign and the upper ten bits of its mantissa and becomes quiet, as with the x86 instruction
/// VCVTPS2PH.
[[nodiscard]] constexpr std::uint16_t FloatToHalf(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<std::uint16_t>(sign | 0x7E00u | ((magnitude >> 13) & 0x03FFu));
  if (magnitude >= 0x477FF000u) return static_cast<std::uint16_t>(sign | 0x7C00u);  // 65520, halfway past the largest
  if (magnitude >= 0x38800000u) {                                                   // 2^-14, the smallest normal
    // Subtracting moves the exponent's bias from 127 to 15; a carry out of the mantissa lands in the exponent.
    const std::uint32_t rounded = magnitude + 0x0FFFu + ((magnitude >> 13) & 1u) - (112u << 23);
    return static_cast<std::uint16_t>(sign | (rounded >> 13));
  }
  if (magnitude <= 0x33000000u) return static_cast<std::uint16_t>(sign);  // 2^-25, halfway to the smallest subnormal
  // The result counts units of 2^-24; at least 14 and at most 24 bits of the mantissa fall off.
  const std::uint32_t mantissa = (magnitude & 0x007FFFFFu) | 0x00800000u;
  const std::uint32_t shift = 126u - (magnitude >> 23);
  const std::uint32_t half_way = 1u << (shift - 1);
  const std::uint32_t rounded = (mantissa + half_way - 1u + ((mantissa >> shift) & 1u)) >> shift;
  return static_cast<std::uint16_t>(sign | rounded);
}

/// The float32 with the value of float16 `half`, always exact. A NaN keeps its sign and mantissa bits and becomes
/// quiet, as with VCVTPH2PS.
[[nodiscard]] constexpr float HalfToFloat(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7FFFu;
  std::uint32_t bits = 0;
  if (magnitude > 0x7C00u) {
    bits = 0x7FC00000u | (magnitude << 13);
  } else if (magnitude == 0x7C00u) {
    bits = 0x7F800000u;
  } else if (magnitude >= 0x0400u) {
    bits = (magnitude << 13) + (112u << 23);
  } else if (magnitude != 0) {
    // A subnormal counts units of 2^-24: its leading bit becomes the hidden one.
    const std::uint32_t leading = 31u - static_cast<std::uint32_t>(std::countl_zero(magnitude));
    bits = ((103u + leading) << 23) | ((magnitude << (23u - leading)) & 0x007FFFFFu);
  }
  return std::bit_cast<float>(sign | bits);
}

/// The bfloat16 next to `value`: to nearest, ties to even. A NaN keeps its sign and the upper seven bits of its
/// mantissa and becomes quiet.
[[nodiscard]] constexpr std::uint16_t FloatToBFloat16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

/// The float32 with the value of `bfloat16`: the same bits above sixteen zeros, NaNs included.
[[nodiscard]] constexpr float BFloat16ToFloat(std::uint16_t bfloat16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bfloat16) << 16);
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TENSOR_FLOAT_BITS_H_
