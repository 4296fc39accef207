#ifndef EMBD_CLIENT_CLI_RENDER_ARRAY_TEXT_H_
#define EMBD_CLIENT_CLI_RENDER_ARRAY_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"

namespace embd::cli {

/// The values as numpy prints an array with its standard options: brackets, columns of equal width, up to eight digits
/// after the point, one form (fixed or scientific) for all, lines of up to 75 characters, and above 1000 elements only
/// the three first and last of each extent. The same text as numpy's str() for every type that numpy has; bfloat16
/// prints as the float32 it equals. No line end after it.
///
/// Cost: looks only at the elements that are shown.
[[nodiscard]] std::string ArrayText(TensorView tensor);

/// A line such as "embeddings (4, 32, 64) float32", without a line end.
[[nodiscard]] std::string ArrayHeading(absl::string_view name, TensorView tensor);

/// An extent list as Python prints a tuple: "(4, 32, 64)", "(7,)".
[[nodiscard]] std::string ShapeText(std::span<const std::int64_t> shape);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_RENDER_ARRAY_TEXT_H_
