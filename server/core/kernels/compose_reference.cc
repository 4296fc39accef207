#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "server/core/kernels/compose.h"
#include "server/core/kernels/reference_element.h"

namespace embd::core {
namespace {

// A row as layer_norm.h says it.
void Normalise(const LayerNormParameters& parameters, std::vector<float>* row) {
  constexpr std::size_t kSums = 16;
  const auto add = [&row](const auto& term) {
    std::vector<double> sums(kSums);
    for (std::size_t i = 0; i < row->size(); ++i) sums[i % kSums] += term(static_cast<double>((*row)[i]));
    for (std::size_t width = kSums / 2; width > 0; width /= 2) {
      for (std::size_t j = 0; j < width; ++j) sums[j] += sums[j + width];
    }
    return sums[0];
  };
  const auto count = static_cast<double>(row->size());
  const double mean = add([](double x) { return x; }) / count;
  const double variance = add([mean](double x) { return (x - mean) * (x - mean); }) / count;
  const double factor = 1.0 / std::sqrt(variance + parameters.eps);
  for (std::size_t i = 0; i < row->size(); ++i) {
    const double normal = (static_cast<double>((*row)[i]) - mean) * factor;
    (*row)[i] = static_cast<float>(normal * static_cast<double>(parameters.weight[i]) +
                                   static_cast<double>(parameters.bias[i]));
  }
}

}  // namespace

void ComposeReference(const ComposeArguments& a) {
  const bool copies = a.second.rows == nullptr && a.divisors == nullptr && a.layer_norm == nullptr && a.scale == 1.0f &&
                      a.first.type == a.output_type;
  const std::size_t row_bytes = a.dim * ElementSize(a.output_type);
  std::vector<float> row(a.dim);
  for (std::size_t r = 0; r < a.row_count; ++r) {
    std::byte* const out_row = a.out_rows != nullptr ? a.out_rows[r] : a.out + r * row_bytes;
    if (copies) {
      std::memcpy(out_row, a.first.rows[r], row_bytes);
      continue;
    }
    for (std::size_t i = 0; i < a.dim; ++i) {
      row[i] = ReadAsFloat(a.first.rows[r], i, a.first.type) * a.scale;
      if (a.divisors != nullptr) row[i] /= a.divisors[r];
      for (const Term* term : {&a.second, &a.third}) {
        if (term->rows != nullptr) row[i] += ReadAsFloat(term->rows[r], i, term->type);
      }
    }
    if (a.layer_norm != nullptr) Normalise(*a.layer_norm, &row);
    for (std::size_t i = 0; i < a.dim; ++i) {
      const float largest = LargestFinite(a.output_type);
      if (a.saturate && std::isfinite(row[i])) row[i] = std::clamp(row[i], -largest, largest);
      WriteFloat(row[i], out_row, i, a.output_type);
    }
  }
}

}  // namespace embd::core
