#include <cstring>

#include "server/core/kernels/compose.h"
#include "server/core/kernels/reference_element.h"

namespace embd::core {

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
