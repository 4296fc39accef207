// Hot path: no lock, no allocation a row, no log.
#include "server/core/kernels/compose.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "server/core/kernels/compose_to.h"

namespace embd::core {
namespace {

constexpr std::size_t kBufferFloats = 8192;  // with what it is made of, well within a first-level cache of 32 KiB or so
constexpr std::size_t kMaxBufferRows = 64;

// Rows from `first` on.
Term From(const Term& term, std::size_t first) {
  return term.rows == nullptr ? Term{} : Term{term.rows + first, term.type};
}

void CopyRows(const ComposeArguments& a) {
  const std::size_t row_bytes = a.dim * ElementSize(a.output_type);
  for (std::size_t r = 0; r < a.row_count; ++r) std::memcpy(a.out + r * row_bytes, a.first.rows[r], row_bytes);
}

// At most two terms, no LayerNorm: one pass.
void ComposeOnce(const ComposeArguments& a) {
  if (a.second.rows == nullptr && a.scale == 1.0f && a.first.type == a.output_type) return CopyRows(a);
  switch (a.output_type) {
    case ElementType::kFloat16: return ComposeToFloat16(a);
    case ElementType::kBFloat16: return ComposeToBFloat16(a);
    case ElementType::kFloat32:
    case ElementType::kFloat64: return ComposeToFloat32(a);  // float64 is no output type
  }
}

// A few rows at a time in float32, which is exact between the steps, and the output type last.
void ComposeThroughBuffer(const ComposeArguments& a) {
  const std::size_t buffer_rows = std::clamp<std::size_t>(kBufferFloats / a.dim, 1, kMaxBufferRows);
  std::vector<float> sums(2 * buffer_rows * a.dim);
  float* const sum = sums.data();
  float* const next = sum + buffer_rows * a.dim;
  std::array<const std::byte*, kMaxBufferRows> sum_rows = {};
  std::array<const std::byte*, kMaxBufferRows> next_rows = {};
  for (std::size_t r = 0; r < buffer_rows; ++r) {
    sum_rows[r] = reinterpret_cast<const std::byte*>(sum + r * a.dim);
    next_rows[r] = reinterpret_cast<const std::byte*>(next + r * a.dim);
  }
  for (std::size_t done = 0; done < a.row_count; done += buffer_rows) {
    const std::size_t rows = std::min(buffer_rows, a.row_count - done);
    ComposeArguments step = {.first = From(a.first, done),
                             .scale = a.scale,
                             .second = From(a.second, done),
                             .dim = a.dim,
                             .row_count = rows,
                             .out = reinterpret_cast<std::byte*>(sum)};
    ComposeOnce(step);
    float* result = sum;
    if (a.third.rows != nullptr) {
      step.first = {sum_rows.data(), ElementType::kFloat32};
      step.scale = 1.0f;
      step.second = From(a.third, done);
      step.out = reinterpret_cast<std::byte*>(next);
      ComposeOnce(step);
      result = next;
    }
    if (a.layer_norm != nullptr) LayerNormRows(*a.layer_norm, rows, result);
    ComposeOnce({.first = {result == sum ? sum_rows.data() : next_rows.data(), ElementType::kFloat32},
                 .dim = a.dim,
                 .row_count = rows,
                 .output_type = a.output_type,
                 .out = a.out + done * a.dim * ElementSize(a.output_type)});
  }
}

}  // namespace

void Compose(const ComposeArguments& arguments) {
  if (arguments.third.rows == nullptr && arguments.layer_norm == nullptr) return ComposeOnce(arguments);
  ComposeThroughBuffer(arguments);
}

}  // namespace embd::core
