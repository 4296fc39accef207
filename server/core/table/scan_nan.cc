#include "server/core/table/scan_nan.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

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

template <typename Elements>
NanScan Scan(const Table& table, std::size_t element_size) {
  constexpr std::size_t kPiece = 16'384;  // elements
  const auto total = static_cast<std::size_t>(table.element_count());
  const std::byte* const data = table.bytes().data();
  NanScan scan;
  for (std::size_t first = 0; first < total; first += kPiece) {
    const std::size_t count = std::min(kPiece, total - first);
    const std::byte* const piece = data + first * element_size;
    const std::int64_t found = Elements::Count(piece, count);
    if (found > 0 && scan.count == 0) {
      std::size_t index = 0;
      while (index + 1 < count && !Elements::IsNan(piece + index * element_size)) ++index;
      scan.row = static_cast<std::int64_t>(first + index) / table.dim();
      scan.column = static_cast<std::int64_t>(first + index) % table.dim();
    }
    scan.count += found;
  }
  return scan;
}

}  // namespace

NanScan ScanNan(const Table& table) {
  const std::size_t size = ElementSize(table.element_type());
  switch (table.element_type()) {
    case ElementType::kFloat16: return Scan<Float16>(table, size);
    case ElementType::kBFloat16: return Scan<BFloat16>(table, size);
    case ElementType::kFloat32: return Scan<Float32>(table, size);
    case ElementType::kFloat64: return Scan<Float64>(table, size);
  }
  return {};
}

}  // namespace embd::core
