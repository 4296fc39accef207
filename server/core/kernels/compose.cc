#include "server/core/kernels/compose.h"

#include <cstring>

#include "server/core/kernels/compose_to.h"

namespace embd::core {
namespace {

void CopyRows(const Table& table, const std::int64_t* rows, std::size_t row_count, std::byte* out) {
  const std::size_t row_bytes = table.row_bytes();
  for (std::size_t r = 0; r < row_count; ++r) std::memcpy(out + r * row_bytes, table.row(rows[r]), row_bytes);
}

}  // namespace

void Compose(const ComposeArguments& arguments) {
  const auto& [token, token_rows, position, position_rows, row_count, output_type, out] = arguments;
  if (position == nullptr && token->element_type() == output_type) return CopyRows(*token, token_rows, row_count, out);
  if (token == nullptr && position->element_type() == output_type) {
    return CopyRows(*position, position_rows, row_count, out);
  }
  switch (output_type) {
    case ElementType::kFloat16: return ComposeToFloat16(arguments);
    case ElementType::kBFloat16: return ComposeToBFloat16(arguments);
    case ElementType::kFloat32:
    case ElementType::kFloat64: return ComposeToFloat32(arguments);  // float64 is no output type
  }
}

}  // namespace embd::core
