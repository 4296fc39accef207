#include "server/core/table/normal.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace embd::core {
namespace {

constexpr int kMantissaBits = 52;
constexpr int kExponentBias = 1023;
constexpr double kTwoToMinus53 = 0x1p-53;

// sum of coefficients[i] · x^i
template <std::size_t N>
double Polynomial(const double (&coefficients)[N], double x) {
  double sum = coefficients[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) sum = sum * x + coefficients[i];
  return sum;
}

}  // namespace

double PortableLog(double x) {
  // x = m · 2^e with m in [sqrt(1/2), sqrt(2)).
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> kMantissaBits) - kExponentBias;
  bits = (bits & ((std::uint64_t{1} << kMantissaBits) - 1)) | (std::uint64_t{kExponentBias} << kMantissaBits);
  double m = std::bit_cast<double>(bits);
  if (m >= std::numbers::sqrt2) {
    m *= 0.5;
    ++exponent;
  }

  // log(1 + f) = 2·atanh(s) with s = f / (2 + f), |s| < 0.1716. Rewritten with h = f²/2 so that its leading term is f
  // itself, which is exact. The series s³/3 + s⁵/5 + … is cut below 2⁻⁶⁰ of the whole.
  constexpr double kSeries[] = {2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9,  2.0 / 11,
                                2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double h = 0.5 * f * f;
  const double log_m = f - (h - s * (h + s * s * Polynomial(kSeries, s * s)));

  // log(2) in two parts: the first ends in 21 zero bits, so that its product with the exponent is exact.
  constexpr double kLog2High = 0x1.62e42fee00000p-1;
  constexpr double kLog2Low = 0x1.a39ef35793c76p-33;
  return exponent * kLog2High + (log_m + exponent * kLog2Low);
}

SinCos PortableSinCosOfTurn(double turn) {
  // The nearest quarter turn and what is left, in quarters: both exact, so small results keep all their bits.
  const double quarters = 4.0 * turn;
  const int nearest =
      static_cast<int>(quarters + 0.5);  // NOLINT(bugprone-incorrect-roundings): no libm, and either side of a tie does
  const double x = (quarters - nearest) * (std::numbers::pi / 2);

  // Taylor series, |x| <= pi/4: cut below 2⁻⁵⁸ of the whole.
  constexpr double kSin[] = {-1.0 / 6,         1.0 / 120,         -1.0 / 5040,          1.0 / 362880,
                             -1.0 / 39916800., 1.0 / 6227020800., -1.0 / 1307674368000, 1.0 / 355687428096000};
  constexpr double kCos[] = {1.0 / 24,         -1.0 / 720,          1.0 / 40320,         -1.0 / 3628800,
                             1.0 / 479001600., -1.0 / 87178291200., 1.0 / 20922789888000};
  const double x2 = x * x;
  const double sin = x + x * (x2 * Polynomial(kSin, x2));
  const double cos = 1.0 - (0.5 * x2 - x2 * x2 * Polynomial(kCos, x2));

  switch (nearest % 4) {
    case 0: return {sin, cos};
    case 1: return {cos, -sin};
    case 2: return {-sin, -cos};
    default: return {-cos, sin};
  }
}

std::array<double, 2> StandardNormals(const std::array<std::uint32_t, 4>& words) {
  const std::uint64_t a = ((std::uint64_t{words[1]} << 32) | words[0]) >> 11;
  const std::uint64_t b = ((std::uint64_t{words[3]} << 32) | words[2]) >> 11;
  const double u1 = static_cast<double>(a + 1) * kTwoToMinus53;
  const double u2 = static_cast<double>(b) * kTwoToMinus53;
  const double r = std::sqrt(-2.0 * PortableLog(u1));
  const SinCos direction = PortableSinCosOfTurn(u2);
  return {r * direction.cos, r * direction.sin};
}

}  // namespace embd::core
