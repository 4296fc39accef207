#include "client/cli/render/float_digits.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace embd::cli {
namespace {

// From the form [-]d.ddde+xx.
FloatDigits FromScientific(const std::string& text) {
  FloatDigits result;
  result.negative = text.front() == '-';
  const std::size_t e = text.find('e');
  result.digits = text.substr(result.negative ? 1 : 0, e - (result.negative ? 1 : 0));
  std::erase(result.digits, '.');
  result.exponent = std::atoi(text.c_str() + e + 1);
  return result;
}

FloatDigits Trimmed(FloatDigits number) {
  const std::size_t first = number.digits.find_first_not_of('0');
  if (first == std::string::npos) return {.negative = number.negative, .digits = "0", .exponent = 0};
  number.exponent -= static_cast<int>(first);
  number.digits = number.digits.substr(first, number.digits.find_last_not_of('0') + 1 - first);
  return number;
}

template <typename T>
FloatDigits Shortest(T value) {
  char buffer[40];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  return Trimmed(FromScientific(std::string(buffer, end)));
}

double RoundToHalf(double value) {
  constexpr int kSmallestExponent = -14;
  constexpr int kFractionBits = 10;
  if (value == 0) return value;
  const int ulp_exponent = std::max(std::ilogb(value), kSmallestExponent) - kFractionBits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(value, -ulp_exponent)), ulp_exponent);
  return std::abs(rounded) >= 65536.0 ? std::copysign(std::numeric_limits<double>::infinity(), value) : rounded;
}

// The standard library knows no float16, so digits are added until the number reads back as itself; five always do.
// Powers of two have a nearer neighbour below than above, so the middle of what reads back as one lies an eighth of a
// step above.
FloatDigits ShortestHalf(double value) {
  constexpr int kMaxDigits = 5;
  constexpr double kEighthOfAStep = 0x1p-13;
  char buffer[40];
  for (int digits = 1; digits <= kMaxDigits; ++digits) {
    for (const double near : {value, value * (1 + kEighthOfAStep)}) {
      std::snprintf(buffer, sizeof(buffer), "%.*e", digits - 1, near);
      if (RoundToHalf(std::strtod(buffer, nullptr)) == value) return Trimmed(FromScientific(buffer));
    }
  }
  return Trimmed(FromScientific(buffer));
}

FloatDigits Shortest(TensorView tensor, std::size_t index) {
  switch (tensor.type) {
    case DataType::kFloat64: return Shortest(DoubleAt(tensor, index));
    case DataType::kFloat16: return ShortestHalf(DoubleAt(tensor, index));
    default: return Shortest(FloatAt(tensor, index));
  }
}

}  // namespace

FloatDigits ScientificDigits(TensorView tensor, std::size_t index, int precision) {
  const FloatDigits shortest = Shortest(tensor, index);
  if (static_cast<int>(shortest.digits.size()) <= precision + 1) return shortest;
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*e", precision, DoubleAt(tensor, index));
  return Trimmed(FromScientific(buffer));
}

FloatDigits FilledDigits(TensorView tensor, std::size_t index, int precision) {
  const FloatDigits shortest = ScientificDigits(tensor, index, precision);
  if (static_cast<int>(shortest.digits.size()) == precision + 1) return shortest;
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), "%.*e", precision, DoubleAt(tensor, index));
  return FromScientific(buffer);
}

FloatDigits PositionalDigits(TensorView tensor, std::size_t index, int precision) {
  const FloatDigits shortest = Shortest(tensor, index);
  const int after_point = static_cast<int>(shortest.digits.size()) - 1 - shortest.exponent;
  if (after_point >= 0 && after_point <= precision) return shortest;
  const double value = DoubleAt(tensor, index);
  char buffer[400];  // the largest double has 309 digits
  std::snprintf(buffer, sizeof(buffer), "%.*f", precision, std::abs(value));
  FloatDigits result{.negative = std::signbit(value), .digits = buffer, .exponent = 0};
  result.exponent = static_cast<int>(result.digits.find('.')) - 1;
  std::erase(result.digits, '.');
  return Trimmed(result);
}

}  // namespace embd::cli
