#include "server/core/diagnostics/log_sum_exp.h"

#include <cmath>

#include "server/core/diagnostics/portable_exp.h"
#include "server/core/table/normal.h"

namespace embd::core {

void LogSumExp::Raise(double largest) {
  if (!(largest > largest_)) return;
  sum_ *= PortableExp(largest_ - largest);
  largest_ = largest;
}

void LogSumExp::Add(std::span<const double> values) {
  double largest = largest_;
  for (const double value : values) {
    if (value > largest) largest = value;
    has_nan_ = has_nan_ || std::isnan(value);
  }
  Raise(largest);
  if (std::isinf(largest_)) return;
  for (const double value : values) sum_ += PortableExp(value - largest_);
}

void LogSumExp::Add(const LogSumExp& other) {
  has_nan_ = has_nan_ || other.has_nan_;
  Raise(other.largest_);
  if (!std::isinf(largest_)) sum_ += other.sum_ * PortableExp(other.largest_ - largest_);
}

double LogSumExp::Value() const {
  if (has_nan_) return std::numeric_limits<double>::quiet_NaN();
  return std::isinf(largest_) ? largest_ : largest_ + PortableLog(sum_);
}

}  // namespace embd::core
