#include "server/core/diagnostics/column_space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/core/diagnostics/fixed_order_dot.h"

namespace embd::core {
namespace {

// A column that has not become a reflection yet.
struct Candidate {
  std::span<double> column;
  double square;  // of its rest's length
};

}  // namespace

void ColumnSpace::Reflection::Apply(std::span<double> x) const {
  const std::span<double> rest = x.subspan(first);
  const double along = scale * FixedOrderDot(axis, rest);
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= along * axis[i];
}

ColumnSpace::Reflection ColumnSpace::Reflect(std::span<double> rest, double square, std::size_t first) {
  const double norm = std::sqrt(square);
  // The sign that adds magnitudes, so that nothing cancels.
  const double begin = rest[0];
  rest[0] += std::copysign(norm, begin);
  return {.first = first, .axis = rest, .scale = 1 / (square + norm * std::abs(begin))};
}

bool ColumnSpace::Factor(const std::function<bool()>& stop) {
  const std::size_t columns = values_.size() / rows_;
  std::vector<Candidate> candidates;
  for (std::size_t c = 0; c < columns; ++c) {
    const std::span<double> column = std::span(values_).subspan(c * rows_, rows_);
    candidates.push_back({.column = column, .square = FixedOrderDot(column, column)});
  }
  const auto shorter = [](const Candidate& a, const Candidate& b) { return a.square < b.square; };
  const double precision = static_cast<double>(std::max(rows_, columns)) * std::numeric_limits<double>::epsilon();
  double least = 0;
  for (std::size_t first = 0; first < rows_ && !candidates.empty(); ++first) {
    if (stop && stop()) return false;
    const auto longest = std::max_element(candidates.begin(), candidates.end(), shorter);
    if (first == 0) least = precision * std::sqrt(longest->square);
    if (std::sqrt(longest->square) <= least) break;
    const Reflection reflection = Reflect(longest->column.subspan(first), longest->square, first);
    reflections_.push_back(reflection);
    candidates.erase(longest);
    for (Candidate& candidate : candidates) {
      reflection.Apply(candidate.column);
      const std::span<double> rest = candidate.column.subspan(first + 1);
      candidate.square = FixedOrderDot(rest, rest);
    }
  }
  return true;
}

std::optional<ColumnSpace> ColumnSpace::Of(std::vector<double> values, std::size_t rows,
                                           const std::function<bool()>& stop) {
  ColumnSpace space(std::move(values), rows);
  if (!space.Factor(stop)) return std::nullopt;
  return space;
}

void ColumnSpace::RemoveFrom(std::span<double> vector) const {
  // In the reflected axes the space is that of the first rank() ones.
  for (const Reflection& reflection : reflections_) reflection.Apply(vector);
  std::fill_n(vector.begin(), rank(), 0.0);
  if (rank() == rows_) return;
  for (auto reflection = reflections_.rbegin(); reflection != reflections_.rend(); ++reflection) {
    reflection->Apply(vector);
  }
}

}  // namespace embd::core
