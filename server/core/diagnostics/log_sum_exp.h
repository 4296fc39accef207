#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_LOG_SUM_EXP_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_LOG_SUM_EXP_H_

#include <limits>
#include <span>

namespace embd::core {

/// The natural logarithm of the sum of all exp(value), for values that come one after the other. It does not overflow:
/// what is summed up is exp(value - the largest so far). The same values in the same portions give the same bits on
/// every machine. Thread safety: thread-compatible.
class LogSumExp {
 public:
  void Add(std::span<const double> values);
  /// Adds all that was added to `other`.
  void Add(const LogSumExp& other);

  /// -infinity of no values or of -infinities alone, infinity where that is among them, NaN where NaN is.
  [[nodiscard]] double Value() const;

 private:
  // Makes `largest` the largest value, unless one was larger.
  void Raise(double largest);

  double largest_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0.0;
  bool has_nan_ = false;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_LOG_SUM_EXP_H_
