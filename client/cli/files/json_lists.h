#ifndef EMBD_CLIENT_CLI_FILES_JSON_LISTS_H_
#define EMBD_CLIENT_CLI_FILES_JSON_LISTS_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"

namespace embd::cli {

/// Reads a tensor written as nested JSON lists of numbers, such as [[1, 2], [3, 4]]; depth 1 to 8. Takes NaN, Infinity
/// and -Infinity, which Python writes. `type` is kInt64, kFloat32 or kFloat64.
///
/// Errors (with the byte offset from 0):
///   INVALID_ARGUMENT  something else than lists of numbers, lists of different lengths or depths side by side,
///                     a number that is none of `type` or outside its range, text after the end.
[[nodiscard]] absl::StatusOr<Tensor> ParseJsonLists(absl::string_view text, DataType type);

/// Reads one JSON value (a number or nested lists) a line; the lines make up the outermost extent. Empty lines are
/// passed over. Errors as above, with the line from 1, and where lines differ in shape or there are none.
[[nodiscard]] absl::StatusOr<Tensor> ParseJsonLines(absl::string_view text, DataType type);

/// Writes the tensor as nested lists on one line, without a line end: what json.dumps(array.tolist()) prints, but in
/// the fewest digits of the tensor's own type. Stops where `out` fails.
void WriteJsonLists(TensorView tensor, std::ostream& out);

/// Writes each element of the outermost extent on a line of its own. Stops where `out` fails.
void WriteJsonLines(TensorView tensor, std::ostream& out);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_JSON_LISTS_H_
