#include "client/fake/widen.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace embd::client::fake {
namespace {

float FromFloat16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1F;
  const int fraction = bits & 0x3FF;
  float magnitude =
      std::ldexp(static_cast<float>(exponent == 0 ? fraction : fraction + 1024), (exponent == 0 ? 1 : exponent) - 25);
  if (exponent == 31) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
  }
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

float FromBfloat16(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

template <typename Stored, typename Convert>
std::vector<float> ConvertAll(const std::vector<std::byte>& bytes, Convert convert) {
  std::vector<float> result(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < result.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    result[i] = convert(stored);
  }
  return result;
}

}  // namespace

std::vector<float> Widen(const InputTensor& tensor) {
  switch (tensor.data_type) {
    case DataType::kFloat16: return ConvertAll<std::uint16_t>(tensor.bytes, FromFloat16);
    case DataType::kBfloat16: return ConvertAll<std::uint16_t>(tensor.bytes, FromBfloat16);
    case DataType::kFloat64:
      return ConvertAll<double>(tensor.bytes, [](double value) { return static_cast<float>(value); });
    default: return ConvertAll<float>(tensor.bytes, [](float value) { return value; });
  }
}

}  // namespace embd::client::fake
