#include <cstring>

#include "server/core/kernels/compose.h"
#include "server/core/tensor/float_bits.h"

namespace embd::core {
namespace {

template <typename T>
T Read(const std::byte* row, std::size_t index) {
  T value;
  std::memcpy(&value, row + index * sizeof(T), sizeof(T));
  return value;
}

float ReadAsFloat(const std::byte* row, std::size_t index, ElementType type) {
  switch (type) {
    case ElementType::kFloat32: return Read<float>(row, index);
    case ElementType::kFloat16: return HalfToFloat(Read<std::uint16_t>(row, index));
    case ElementType::kBFloat16: return BFloat16ToFloat(Read<std::uint16_t>(row, index));
    case ElementType::kFloat64: return static_cast<float>(Read<double>(row, index));
  }
  return 0.0f;
}

void WriteFloat(float value, std::byte* row, std::size_t index, ElementType type) {
  if (type == ElementType::kFloat32) {
    std::memcpy(row + index * sizeof(float), &value, sizeof(float));
    return;
  }
  const std::uint16_t bits = type == ElementType::kFloat16 ? FloatToHalf(value) : FloatToBFloat16(value);
  std::memcpy(row + index * sizeof bits, &bits, sizeof bits);
}

}  // namespace

void ComposeReference(const ComposeArguments& arguments) {
  const auto& [token, token_rows, position, position_rows, row_count, output_type, out] = arguments;
  const Table& any = token != nullptr ? *token : *position;
  const bool copies = (token == nullptr || position == nullptr) && any.element_type() == output_type;
  const auto dim = static_cast<std::size_t>(any.dim());
  const std::size_t out_row_bytes = dim * ElementSize(output_type);
  for (std::size_t r = 0; r < row_count; ++r) {
    std::byte* const out_row = out + r * out_row_bytes;
    const std::byte* const token_row = token != nullptr ? token->row(token_rows[r]) : nullptr;
    const std::byte* const position_row = position != nullptr ? position->row(position_rows[r]) : nullptr;
    if (copies) {
      std::memcpy(out_row, token_row != nullptr ? token_row : position_row, out_row_bytes);
      continue;
    }
    for (std::size_t i = 0; i < dim; ++i) {
      float sum = 0.0f;
      if (token_row != nullptr) sum = ReadAsFloat(token_row, i, token->element_type());
      if (position_row != nullptr) {
        const float term = ReadAsFloat(position_row, i, position->element_type());
        sum = token_row != nullptr ? sum + term : term;
      }
      WriteFloat(sum, out_row, i, output_type);
    }
  }
}

}  // namespace embd::core
