#include "client/fake/narrow.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace embd::client::fake {
namespace {

std::uint16_t ToFloat16(float value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00);
  const double magnitude = std::abs(double{value});
  if (magnitude >= 65520) return static_cast<std::uint16_t>(sign | 0x7C00);  // halfway past the largest
  // Counted in units of the last of ten bits; 2^10 units too many carry into the exponent, as they should.
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  const auto units = static_cast<int>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + units));
}

std::uint16_t ToBfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16) | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

}  // namespace

void Narrow(std::span<const float> values, DataType type, std::byte* out) {
  if (type == DataType::kFloat32) {
    if (!values.empty()) std::memcpy(out, values.data(), values.size_bytes());
    return;
  }
  for (const float value : values) {
    const std::uint16_t narrow = type == DataType::kFloat16 ? ToFloat16(value) : ToBfloat16(value);
    std::memcpy(out, &narrow, sizeof(narrow));
    out += sizeof(narrow);
  }
}

}  // namespace embd::client::fake
