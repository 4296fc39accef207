#include "client/fake/narrow.h"

#include <cstdint>
#include <cstring>

#include "client/src/float_bits.h"

namespace embd::client::fake {

void Narrow(std::span<const float> values, DataType type, std::byte* out) {
  if (type == DataType::kFloat32) {
    if (!values.empty()) std::memcpy(out, values.data(), values.size_bytes());
    return;
  }
  for (const float value : values) {
    const std::uint16_t narrow = type == DataType::kFloat16 ? FloatToHalf(value) : FloatToBfloat16(value);
    std::memcpy(out, &narrow, sizeof(narrow));
    out += sizeof(narrow);
  }
}

}  // namespace embd::client::fake
