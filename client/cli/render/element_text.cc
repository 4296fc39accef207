#include "client/cli/render/element_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/render/float_digits.h"

namespace embd::cli {
namespace {

std::string LeftPadded(const std::string& text, int width) {
  const std::size_t wanted = static_cast<std::size_t>(std::max(width, 0));
  return text.size() >= wanted ? text : absl::StrCat(std::string(wanted - text.size(), ' '), text);
}

// Before the point, with the sign.
std::string WholePart(const FloatDigits& number) {
  std::string whole = number.negative ? "-" : "";
  if (number.exponent < 0) return absl::StrCat(whole, "0");
  const auto places = static_cast<std::size_t>(number.exponent) + 1;
  whole += number.digits.substr(0, places);
  if (number.digits.size() < places) whole.append(places - number.digits.size(), '0');
  return whole;
}

// After the point.
std::string FractionPart(const FloatDigits& number) {
  if (number.digits == "0") return "";
  if (number.exponent < 0) {
    return absl::StrCat(std::string(static_cast<std::size_t>(-number.exponent - 1), '0'), number.digits);
  }
  const auto places = static_cast<std::size_t>(number.exponent) + 1;
  return number.digits.size() > places ? number.digits.substr(places) : "";
}

int ExponentDigits(int exponent) { return std::max(2, static_cast<int>(absl::StrCat(std::abs(exponent)).size())); }

// Whether the largest value is so many times the smallest that a fixed form would hide it. The quotient is formed in
// the array's own type, as numpy forms it.
bool SpreadsOver(double largest, double smallest, DataType type) {
  constexpr double kLimit = 1000.0;
  switch (type) {
    case DataType::kFloat64: return largest / smallest > kLimit;
    case DataType::kFloat16: return largest / smallest > 1000.25;  // a float16 rounds what lies below to 1000
    default: return static_cast<float>(largest) / static_cast<float>(smallest) > static_cast<float>(kLimit);
  }
}

}  // namespace

ElementFormat::ElementFormat(TensorView tensor, std::span<const std::size_t> shown) : tensor_(tensor) {
  if (IsInteger(tensor.type)) {
    for (const std::size_t index : shown) {
      width_before_ = std::max(width_before_, static_cast<int>(absl::StrCat(IntegerAt(tensor, index)).size()));
    }
    return;
  }
  std::vector<std::size_t> finite;
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
  bool negative_infinity = false;
  for (const std::size_t index : shown) {
    const double value = DoubleAt(tensor, index);
    if (!std::isfinite(value)) {
      negative_infinity = negative_infinity || (std::isinf(value) && value < 0);
      continue;
    }
    finite.push_back(index);
    if (value == 0) continue;
    largest = std::max(largest, std::abs(value));
    smallest = std::min(smallest, std::abs(value));
  }
  scientific_ = largest > 0 && (largest >= 1e8 || smallest < 0.0001 || SpreadsOver(largest, smallest, tensor.type));
  if (scientific_) {
    ChooseScientific(finite);
  } else {
    ChooseFixed(finite);
  }
  if (finite.size() != shown.size()) {
    width_before_ = std::max(width_before_, (negative_infinity ? 4 : 3) - (width_after_ + 1));
  }
}

void ElementFormat::ChooseFixed(std::span<const std::size_t> finite) {
  for (const std::size_t index : finite) {
    const FloatDigits number = PositionalDigits(tensor_, index, precision_);
    width_before_ = std::max(width_before_, static_cast<int>(WholePart(number).size()));
    width_after_ = std::max(width_after_, static_cast<int>(FractionPart(number).size()));
  }
}

void ElementFormat::ChooseScientific(std::span<const std::size_t> finite) {
  int longest = 0;
  for (const std::size_t index : finite) {
    const FloatDigits number = ScientificDigits(tensor_, index, precision_);
    width_before_ = std::max(width_before_, number.negative ? 2 : 1);
    longest = std::max(longest, static_cast<int>(number.digits.size()) - 1);
    exponent_digits_ = std::max(exponent_digits_, ExponentDigits(number.exponent));
  }
  precision_ = longest;
  width_after_ = precision_ + 2 + exponent_digits_;
}

std::string ElementFormat::Text(std::size_t index) const {
  if (IsInteger(tensor_.type)) return LeftPadded(absl::StrCat(IntegerAt(tensor_, index)), width_before_);
  if (!std::isfinite(DoubleAt(tensor_, index))) return NonFiniteText(index);
  return scientific_ ? ScientificText(index) : FixedText(index);
}

std::string ElementFormat::FixedText(std::size_t index) const {
  const FloatDigits number = PositionalDigits(tensor_, index, precision_);
  std::string text = absl::StrCat(LeftPadded(WholePart(number), width_before_), ".", FractionPart(number));
  text.resize(std::max(text.size(), static_cast<std::size_t>(width_before_ + 1 + width_after_)), ' ');
  return text;
}

std::string ElementFormat::ScientificText(std::size_t index) const {
  const FloatDigits number = FilledDigits(tensor_, index, precision_);
  std::string exponent = absl::StrCat(std::abs(number.exponent));
  exponent.insert(0, static_cast<std::size_t>(exponent_digits_) - exponent.size(), '0');
  const std::string whole = absl::StrCat(number.negative ? "-" : "", number.digits.substr(0, 1));
  return absl::StrCat(LeftPadded(whole, width_before_), ".", number.digits.substr(1), number.exponent < 0 ? "e-" : "e+",
                      exponent);
}

std::string ElementFormat::NonFiniteText(std::size_t index) const {
  const double value = DoubleAt(tensor_, index);
  return LeftPadded(std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf", width_before_ + width_after_ + 1);
}

}  // namespace embd::cli
