#include "server/core/tensor/decode.h"

#include <cstdint>
#include <cstring>

#include "server/core/tensor/float_bits.h"

namespace embd::core {
namespace {

template <typename Stored, typename Convert>
void DecodeEach(const std::byte* source, std::span<double> out, Convert convert) {
  for (double& value : out) {
    Stored stored;
    std::memcpy(&stored, source, sizeof stored);
    value = static_cast<double>(convert(stored));
    source += sizeof stored;
  }
}

}  // namespace

void DecodeToDouble(const std::byte* source, ElementType type, std::span<double> out) {
  switch (type) {
    case ElementType::kFloat32: return DecodeEach<float>(source, out, [](float value) { return value; });
    case ElementType::kFloat16: return DecodeEach<std::uint16_t>(source, out, HalfToFloat);
    case ElementType::kBFloat16: return DecodeEach<std::uint16_t>(source, out, BFloat16ToFloat);
    case ElementType::kFloat64: return DecodeEach<double>(source, out, [](double value) { return value; });
  }
}

}  // namespace embd::core
