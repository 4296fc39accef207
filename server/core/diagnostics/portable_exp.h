#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_PORTABLE_EXP_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_PORTABLE_EXP_H_

#include <bit>
#include <cmath>
#include <cstdint>

namespace embd::core {

// As PortableLog of table/normal.h: their bits are the same on every machine, and they take a fraction of the time that
// a library takes.

/// e to the `x`, for x <= 0, at most 2 ulp from the exact value; 0 below -708. NaN stays NaN.
[[nodiscard]] inline double PortableExp(double x) {
  if (!(x > -708.0)) return x < 0 ? 0.0 : x;
  // x = n · log(2) + r with |r| < 0.35. The sum with 1.5 · 2^52 ends in n, rounded to nearest.
  constexpr double kShift = 0x1.8p52;
  constexpr double kLog2High = 0x1.62e42fee00000p-1;  // n · this is exact
  constexpr double kLog2Low = 0x1.a39ef35793c76p-33;
  const double shifted = x * 0x1.71547652b82fep0 + kShift;
  const double n = shifted - kShift;
  const double r = (x - n * kLog2High) - n * kLog2Low;

  // The series of e^r, cut below 2^-60.
  constexpr double kSeries[] = {1.0 / 6227020800., 1.0 / 479001600., 1.0 / 39916800., 1.0 / 3628800.,
                                1.0 / 362880.,     1.0 / 40320.,     1.0 / 5040.,     1.0 / 720.,
                                1.0 / 120.,        1.0 / 24.,        1.0 / 6.,        0.5};
  double sum = 0.0;
  for (const double coefficient : kSeries) sum = sum * r + coefficient;
  const double power = 1.0 + (r + r * r * sum);
  const std::int64_t exponent = std::bit_cast<std::int64_t>(shifted) - std::bit_cast<std::int64_t>(kShift);
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(power) + exponent * (std::int64_t{1} << 52));
}

/// The hyperbolic tangent, within 1e-12 of the exact value times its size. NaN stays NaN.
[[nodiscard]] inline double PortableTanh(double x) {
  constexpr double kSmall = 1e-3;  // up to here the quotient loses digits, and three terms of the series do
  if (std::fabs(x) < kSmall) return x - x * x * x * (1.0 / 3 - x * x * (2.0 / 15));
  const double power = PortableExp(-2.0 * std::fabs(x));
  return std::copysign((1.0 - power) / (1.0 + power), x);
}

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_PORTABLE_EXP_H_
