#include "client/fake/widen.h"

#include <cstdint>
#include <cstring>

#include "client/src/float_bits.h"

namespace embd::client::fake {
namespace {

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
    case DataType::kFloat16: return ConvertAll<std::uint16_t>(tensor.bytes, HalfToFloat);
    case DataType::kBfloat16: return ConvertAll<std::uint16_t>(tensor.bytes, Bfloat16ToFloat);
    case DataType::kFloat64:
      return ConvertAll<double>(tensor.bytes, [](double value) { return static_cast<float>(value); });
    default: return ConvertAll<float>(tensor.bytes, [](float value) { return value; });
  }
}

}  // namespace embd::client::fake
