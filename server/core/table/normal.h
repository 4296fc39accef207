#ifndef EMBD_SERVER_CORE_TABLE_NORMAL_H_
#define EMBD_SERVER_CORE_TABLE_NORMAL_H_

#include <array>
#include <cstdint>

namespace embd::core {

// Normal random numbers whose bits are the same on every machine: nothing here calls the C math library but `sqrt`,
// which IEEE 754 rounds correctly like + - * and /; the rest differs from one library and one CPU to the next.

/// The natural logarithm of a normal, finite `x` > 0, at most 2 ulp from the exact value. Any other `x` gives a
/// meaningless result.
[[nodiscard]] double PortableLog(double x);

/// Sine and cosine of one angle.
struct SinCos {
  double sin;
  double cos;
};

/// Sine and cosine of 2·pi·`turn` for `turn` in [0, 1), each at most 2 ulp from the exact value, also next to its
/// zeros.
[[nodiscard]] SinCos PortableSinCosOfTurn(double turn);

/// Two independent values of the standard normal distribution from 128 random bits w[0] … w[3], by Box and Muller:
///
///     a  = (w[1]·2³² + w[0]) >> 11        b  = (w[3]·2³² + w[2]) >> 11        53 bits each
///     u1 = (a + 1)·2⁻⁵³ in (0, 1]         u2 = b·2⁻⁵³ in [0, 1)
///     r  = sqrt(-2·log(u1))               result {r·cos(2·pi·u2), r·sin(2·pi·u2)}
///
/// in double. No result is farther from 0 than 8.5717.
[[nodiscard]] std::array<double, 2> StandardNormals(const std::array<std::uint32_t, 4>& words);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_NORMAL_H_
