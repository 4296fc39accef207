// Hot path: no lock, no allocation a row, no log.
#include "server/core/kernels/compose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "server/core/kernels/compose_to.h"
#include "server/core/kernels/copy_rows.h"

namespace embd::core {
namespace {

constexpr std::size_t kBufferFloats = 8192;  // with what it is made of, well within a first-level cache of 32 KiB or so
constexpr std::size_t kMaxBufferRows = 64;

// Rows from `first` on.
Term From(const Term& term, std::size_t first) {
  return term.rows == nullptr ? Term{} : Term{term.rows + first, term.type};
}

// Of terms without divisors and LayerNorm: whether they are one that is stored as it is wanted.
bool IsCopy(const ComposeArguments& a) {
  return a.second.rows == nullptr && a.scale == 1.0f && a.first.type == a.output_type;
}

// Whether there is a pass that adds all terms: without a third one, or with three of one type.
bool AddsAtOnce(const ComposeArguments& a) {
  return a.third.rows == nullptr || (a.third.type == a.first.type && a.second.type == a.first.type);
}

// Terms that are added at once, no divisors, no LayerNorm, nothing to saturate: one pass.
void ComposeOnce(const ComposeArguments& a) {
  if (IsCopy(a)) return CopyRows(a);
  switch (a.output_type) {
    case ElementType::kFloat16: return ComposeToFloat16(a);
    case ElementType::kBFloat16: return ComposeToBFloat16(a);
    case ElementType::kFloat32:
    case ElementType::kFloat64: return ComposeToFloat32(a);  // float64 is no output type
  }
}

void DivideRows(const float* divisors, std::size_t row_count, std::size_t dim, float* rows) {
  for (std::size_t r = 0; r < row_count; ++r) {
    for (std::size_t i = 0; i < dim; ++i) rows[r * dim + i] /= divisors[r];
  }
}

// Infinities and NaNs stay.
void Saturate(float largest, std::size_t count, float* values) {
  for (std::size_t i = 0; i < count; ++i) {
    const float magnitude = std::fabs(values[i]);
    const bool beyond = magnitude > largest && magnitude <= std::numeric_limits<float>::max();
    values[i] = beyond ? std::copysign(largest, values[i]) : values[i];
  }
}

// A few rows at a time in float32, which is exact between the steps, and the output type last.
void ComposeThroughBuffer(const ComposeArguments& a) {
  const std::size_t buffer_rows = std::clamp<std::size_t>(kBufferFloats / a.dim, 1, kMaxBufferRows);
  std::vector<float> sums(2 * buffer_rows * a.dim);
  float* sum = sums.data();
  float* next = sum + buffer_rows * a.dim;
  std::array<const std::byte*, kMaxBufferRows> sum_rows = {};
  std::array<const std::byte*, kMaxBufferRows> next_rows = {};
  for (std::size_t r = 0; r < buffer_rows; ++r) {
    sum_rows[r] = reinterpret_cast<const std::byte*>(sum + r * a.dim);
    next_rows[r] = reinterpret_cast<const std::byte*>(next + r * a.dim);
  }
  const auto add = [&](const Term& term, std::size_t rows) {
    if (term.rows == nullptr) return;
    ComposeOnce({.first = {sum_rows.data(), ElementType::kFloat32},
                 .second = term,
                 .dim = a.dim,
                 .row_count = rows,
                 .out = reinterpret_cast<std::byte*>(next)});
    std::swap(sum, next);
    std::swap(sum_rows, next_rows);
  };
  const bool adds_at_once = a.divisors == nullptr && AddsAtOnce(a);
  for (std::size_t done = 0; done < a.row_count; done += buffer_rows) {
    const std::size_t rows = std::min(buffer_rows, a.row_count - done);
    ComposeOnce({.first = From(a.first, done),
                 .scale = a.scale,
                 .second = a.divisors == nullptr ? From(a.second, done) : Term{},
                 .third = adds_at_once ? From(a.third, done) : Term{},
                 .dim = a.dim,
                 .row_count = rows,
                 .out = reinterpret_cast<std::byte*>(sum)});
    if (a.divisors != nullptr) {
      DivideRows(a.divisors + done, rows, a.dim, sum);
      add(From(a.second, done), rows);
    }
    if (!adds_at_once) add(From(a.third, done), rows);
    if (a.layer_norm != nullptr) LayerNormRows(*a.layer_norm, rows, sum);
    if (a.saturate) Saturate(LargestFinite(a.output_type), rows * a.dim, sum);
    ComposeOnce({.first = {sum_rows.data(), ElementType::kFloat32},
                 .dim = a.dim,
                 .row_count = rows,
                 .output_type = a.output_type,
                 .out = a.out_rows != nullptr ? nullptr : a.out + done * a.dim * ElementSize(a.output_type),
                 .out_rows = a.out_rows != nullptr ? a.out_rows + done : nullptr,
                 .stores = a.stores});
  }
}

}  // namespace

void Compose(const ComposeArguments& arguments) {
  const bool one_pass = AddsAtOnce(arguments) && arguments.divisors == nullptr && arguments.layer_norm == nullptr;
  const bool saturates = arguments.saturate && arguments.output_type != ElementType::kFloat32;
  if (one_pass && (!saturates || IsCopy(arguments))) return ComposeOnce(arguments);
  ComposeThroughBuffer(arguments);
}

}  // namespace embd::core
