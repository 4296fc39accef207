#ifndef EMBD_CLIENT_CLI_RENDER_FLOAT_DIGITS_H_
#define EMBD_CLIENT_CLI_RENDER_FLOAT_DIGITS_H_

#include <string>

#include "client/cli/files/tensor.h"

namespace embd::cli {

/// A finite number in decimal, whose first digit stands at 10^exponent.
struct FloatDigits {
  bool negative = false;
  std::string digits = "0";  ///< without a point; no zeros at the end, none in front but for 0 itself
  int exponent = 0;
};

/// Element `index`, which must be finite, in the fewest digits that tell it from its neighbours of the same type, but
/// with at most `precision` digits after the point of the form d.ddde+xx. What is cut is rounded from the exact value,
/// half to even.
[[nodiscard]] FloatDigits ScientificDigits(TensorView tensor, std::size_t index, int precision);

/// The same with exactly `precision` digits after the point, and so zeros at the end: where fewer would do, further
/// exact digits follow.
[[nodiscard]] FloatDigits FilledDigits(TensorView tensor, std::size_t index, int precision);

/// The digits of the form ddd.ddd, with at most `precision` of them, above 0, after the point and all exact ones before
/// it.
[[nodiscard]] FloatDigits PositionalDigits(TensorView tensor, std::size_t index, int precision);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_RENDER_FLOAT_DIGITS_H_
