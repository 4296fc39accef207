#include "server/core/table/scan_nan.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace embd::core {
namespace {

// Works on bits: comparing them as signed numbers is what baseline vector instructions can do, and no floating-point
// mode has a say.
template <typename Bits, Bits kInfinity>
struct Format {
  static bool IsNan(const std::byte* element) {
    Bits bits{};
    std::memcpy(&bits, element, sizeof bits);
    return static_cast<Bits>(bits & kMagnitude) > kInfinity;
  }

  // The counter has the element's width, so that it shares its vector lanes; `count` elements must fit into it.
  static std::int64_t Count(const std::byte* elements, std::size_t count) {
    Bits found = 0;
    for (std::size_t i = 0; i < count; ++i) found = static_cast<Bits>(found + IsNan(elements + i * sizeof(Bits)));
    return found;
  }

  static constexpr Bits kMagnitude = static_cast<Bits>(~(Bits{1} << (8 * sizeof(Bits) - 1)));
};

using Float16 = Format<std::int16_t, 0x7C00>;
using BFloat16 = Format<std::int16_t, 0x7F80>;
using Float32 = Format<std::int32_t, 0x7F800000>;
using Float64 = Format<std::int64_t, 0x7FF0000000000000>;

}  // namespace

template <typename Elements>
void NanCounter::Count(std::span<const std::byte> piece) {
  constexpr std::size_t kAtOnce = 16'384;  // elements
  const std::size_t size = ElementSize(type_);
  const std::size_t total = piece.size() / size;
  for (std::size_t first = 0; first < total; first += kAtOnce) {
    const std::size_t count = std::min(kAtOnce, total - first);
    const std::byte* const elements = piece.data() + first * size;
    const std::int64_t found = Elements::Count(elements, count);
    if (found > 0 && scan_.count == 0) {
      std::size_t index = 0;
      while (index + 1 < count && !Elements::IsNan(elements + index * size)) ++index;
      const std::int64_t place = elements_before_ + static_cast<std::int64_t>(first + index);
      scan_.row = place / dim_;
      scan_.column = place % dim_;
    }
    scan_.count += found;
  }
  elements_before_ += static_cast<std::int64_t>(total);
}

void NanCounter::Add(std::span<const std::byte> piece) {
  switch (type_) {
    case ElementType::kFloat16: return Count<Float16>(piece);
    case ElementType::kBFloat16: return Count<BFloat16>(piece);
    case ElementType::kFloat32: return Count<Float32>(piece);
    case ElementType::kFloat64: return Count<Float64>(piece);
  }
}

NanScan ScanNan(const Table& table) {
  NanCounter counter(table.element_type(), table.dim());
  counter.Add(table.bytes());
  return counter.result();
}

}  // namespace embd::core
