#ifndef EMBD_SERVER_CORE_KERNELS_REFERENCE_ELEMENT_H_
#define EMBD_SERVER_CORE_KERNELS_REFERENCE_ELEMENT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "server/core/tensor/element_type.h"
#include "server/core/tensor/float_bits.h"

// One element at a time, for the definitions that kernels are tested against. Rows need not be aligned.
namespace embd::core {

template <typename T>
[[nodiscard]] T ReadElement(const std::byte* row, std::size_t index) {
  T value;
  std::memcpy(&value, row + index * sizeof(T), sizeof(T));
  return value;
}

/// Element `index` as float32: exact, but for float64, which is rounded to nearest even.
[[nodiscard]] inline float ReadAsFloat(const std::byte* row, std::size_t index, ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return ReadElement<float>(row, index);
    case ElementType::kFloat16: return HalfToFloat(ReadElement<std::uint16_t>(row, index));
    case ElementType::kBFloat16: return BFloat16ToFloat(ReadElement<std::uint16_t>(row, index));
    case ElementType::kFloat64: return static_cast<float>(ReadElement<double>(row, index));
  }
  return 0.0f;
}

/// Writes element `index` of a row of float32, float16 or bfloat16, rounded once.
inline void WriteFloat(float value, std::byte* row, std::size_t index, ElementType type) {
  if (type == ElementType::kFloat32) {
    std::memcpy(row + index * sizeof(float), &value, sizeof(float));
    return;
  }
  const std::uint16_t bits = type == ElementType::kFloat16 ? FloatToHalf(value) : FloatToBFloat16(value);
  std::memcpy(row + index * sizeof bits, &bits, sizeof bits);
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_REFERENCE_ELEMENT_H_
