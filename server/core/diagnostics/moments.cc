#include "server/core/diagnostics/moments.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "server/core/diagnostics/fixed_order_dot.h"

namespace embd::core {
namespace {

// Eight of each, element i in i mod 8, so that vector instructions can be used without a change of the result.
constexpr std::size_t kLanes = 8;

double FixedOrderSum(std::span<const double> values) {
  double sums[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) sums[j] += values[i + j];
  }
  for (std::size_t j = 0; i + j < values.size(); ++j) sums[j] += values[i + j];
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

void FindRange(std::span<const double> values, Moments* moments) {
  double mins[kLanes];
  double maxs[kLanes];
  std::fill_n(mins, kLanes, values[0]);
  std::fill_n(maxs, kLanes, values[0]);
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) {
      mins[j] = values[i + j] < mins[j] ? values[i + j] : mins[j];
      maxs[j] = values[i + j] > maxs[j] ? values[i + j] : maxs[j];
    }
  }
  for (; i < values.size(); ++i) {
    mins[0] = std::min(mins[0], values[i]);
    maxs[0] = std::max(maxs[0], values[i]);
  }
  moments->min = *std::min_element(mins, mins + kLanes);
  moments->max = *std::max_element(maxs, maxs + kLanes);
}

}  // namespace

double Moments::Deviation() const { return count == 0 ? 0.0 : std::sqrt(squares / static_cast<double>(count)); }

void Moments::Add(const Moments& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  const auto ours = static_cast<double>(count);
  const auto theirs = static_cast<double>(other.count);
  const double difference = other.mean - mean;
  count += other.count;
  const double share = theirs / static_cast<double>(count);
  mean += difference * share;
  squares += other.squares + difference * difference * ours * share;
  min = std::min(min, other.min);
  max = std::max(max, other.max);
}

Moments MomentsOf(std::span<double> values) {
  Moments moments = {.count = static_cast<std::int64_t>(values.size())};
  if (values.empty()) return moments;
  FindRange(values, &moments);
  moments.mean = FixedOrderSum(values) / static_cast<double>(moments.count);
  for (double& value : values) value -= moments.mean;
  moments.squares = FixedOrderDot(values, values);
  return moments;
}

}  // namespace embd::core
