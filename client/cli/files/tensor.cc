#include "client/cli/files/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace embd::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "elements are read and written as they lie in memory");

template <typename T>
T Load(TensorView tensor, std::size_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

float HalfToFloat(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1F;
  const int fraction = half & 0x3FF;
  const float sign = (half & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) {
    if (fraction != 0) return std::numeric_limits<float>::quiet_NaN();
    return sign * std::numeric_limits<float>::infinity();
  }
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

}  // namespace

std::size_t ByteSize(DataType type) {
  switch (type) {
    case DataType::kFloat16:
    case DataType::kBFloat16: return 2;
    case DataType::kFloat32:
    case DataType::kInt32: return 4;
    case DataType::kFloat64:
    case DataType::kInt64: return 8;
  }
  return 1;
}

absl::string_view Name(DataType type) {
  switch (type) {
    case DataType::kFloat32: return "float32";
    case DataType::kFloat16: return "float16";
    case DataType::kBFloat16: return "bfloat16";
    case DataType::kFloat64: return "float64";
    case DataType::kInt32: return "int32";
    case DataType::kInt64: return "int64";
  }
  return "";
}

bool IsInteger(DataType type) { return type == DataType::kInt32 || type == DataType::kInt64; }

std::optional<std::int64_t> ElementCount(std::span<const std::int64_t> shape) {
  std::int64_t product = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, extent, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : product;
}

float FloatAt(TensorView tensor, std::size_t index) {
  switch (tensor.type) {
    case DataType::kFloat16: return HalfToFloat(Load<std::uint16_t>(tensor, index));
    case DataType::kBFloat16: return std::bit_cast<float>(std::uint32_t{Load<std::uint16_t>(tensor, index)} << 16);
    default: return Load<float>(tensor, index);
  }
}

double DoubleAt(TensorView tensor, std::size_t index) {
  return tensor.type == DataType::kFloat64 ? Load<double>(tensor, index) : double{FloatAt(tensor, index)};
}

std::int64_t IntegerAt(TensorView tensor, std::size_t index) {
  return tensor.type == DataType::kInt32 ? Load<std::int32_t>(tensor, index) : Load<std::int64_t>(tensor, index);
}

}  // namespace embd::cli
