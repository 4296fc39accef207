#ifndef EMBD_CLIENT_CLI_FILES_ROW_TEXT_H_
#define EMBD_CLIENT_CLI_FILES_ROW_TEXT_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"

namespace embd::cli {

/// Reads a (rows, columns) matrix from text: rows end at ';' or at the end of a line, values stand between blanks or
/// commas. This is the language of --ids, of .txt and of .csv files. Empty lines, lines that begin with '#', and a ';'
/// at the end of a line are passed over. `type` is kInt64, kFloat32 or kFloat64.
///
/// Errors (rows counted from 0, as in the messages of the server):
///   INVALID_ARGUMENT  no values at all; a word that is no number of `type` or outside its range; an empty row or cell;
///                     rows of different lengths.
[[nodiscard]] absl::StatusOr<Tensor> ParseRows(absl::string_view text, DataType type);

/// Writes the tensor as lines of its last extent, values set apart by `separator`: a (B, T, D) tensor becomes B*T
/// lines, a vector one line. Stops where `out` fails.
void WriteRows(TensorView tensor, char separator, std::ostream& out);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_ROW_TEXT_H_
