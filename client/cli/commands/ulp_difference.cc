#include "client/cli/commands/ulp_difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace embd::cli {
namespace {

std::uint32_t Bits(TensorView tensor, std::size_t index) {
  if (tensor.type == DataType::kFloat32) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, tensor.bytes.data() + index * sizeof(bits), sizeof(bits));
    return bits;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, tensor.bytes.data() + index * sizeof(bits), sizeof(bits));
  return bits;
}

// Bits without the sign grow with the magnitude; with the sign in front of them they are in the order of the numbers.
std::int64_t Ordered(std::uint32_t bits, DataType type) {
  const std::uint32_t sign = type == DataType::kFloat32 ? 0x8000'0000U : 0x8000U;
  const std::int64_t magnitude = bits & (sign - 1);
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

}  // namespace

std::optional<std::uint64_t> UlpDistance(TensorView a, TensorView b, std::size_t index) {
  const bool a_nan = std::isnan(FloatAt(a, index));
  const bool b_nan = std::isnan(FloatAt(b, index));
  if (a_nan != b_nan) return std::nullopt;
  if (a_nan) return 0;
  return static_cast<std::uint64_t>(std::abs(Ordered(Bits(a, index), a.type) - Ordered(Bits(b, index), b.type)));
}

UlpDifference CompareCells(TensorView a, TensorView b) {
  UlpDifference result = {.cells = a.size()};
  for (std::size_t i = 0; i < result.cells; ++i) {
    const bool same = Bits(a, i) == Bits(b, i);
    const std::optional<std::uint64_t> distance = same ? std::optional<std::uint64_t>(0) : UlpDistance(a, b, i);
    if (!distance.has_value()) {
      ++result.one_nan;
    } else {
      result.largest = std::max(result.largest, *distance);
    }
    const bool equal = same || (distance == 0U && std::isnan(FloatAt(a, i)));
    if (equal) {
      ++result.equal;
    } else if (!result.first.has_value()) {
      result.first = i;
    }
  }
  return result;
}

}  // namespace embd::cli
