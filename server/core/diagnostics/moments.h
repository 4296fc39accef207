#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_MOMENTS_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_MOMENTS_H_

#include <cstdint>
#include <span>

namespace embd::core {

/// Count, mean, spread and range of numbers. Without numbers, all are 0.
struct Moments {
  std::int64_t count = 0;
  double mean = 0.0;
  double squares = 0.0;  ///< sum of (x - mean)^2
  double min = 0.0;
  double max = 0.0;

  /// sqrt(squares / count).
  [[nodiscard]] double Deviation() const;

  /// Takes in the numbers that `other` stands for, by Chan's formula. The order of such steps shows in the last bits.
  void Add(const Moments& other);
};

/// The moments of finite numbers by two passes over them, which loses no precision where their mean is large. Added in
/// the order of FixedOrderDot. Leaves each number's difference to the mean in `values`.
[[nodiscard]] Moments MomentsOf(std::span<double> values);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_MOMENTS_H_
