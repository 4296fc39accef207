#ifndef EMBD_CLIENT_CLI_FILES_UNEVEN_ROWS_H_
#define EMBD_CLIENT_CLI_FILES_UNEVEN_ROWS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::cli {

/// Whole numbers in rows that need not be equally long, one row after the other.
struct UnevenRows {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> values;
};

/// Reads the language of `ParseRows`, where nothing between two ';', and a line of ';' alone, is an empty row.
///
/// Errors (rows counted from 0):
///   INVALID_ARGUMENT  no rows at all; a word that is no whole number; an empty cell.
[[nodiscard]] absl::StatusOr<UnevenRows> ParseUnevenRows(absl::string_view text);

/// Reads a JSON list of lists of whole numbers, or one list as the only row.
///
/// Errors:
///   INVALID_ARGUMENT  something else.
[[nodiscard]] absl::StatusOr<UnevenRows> ParseUnevenJson(absl::string_view text);

/// Reads one JSON list of whole numbers a line; empty lines are passed over. Errors as above, with the line from 1.
[[nodiscard]] absl::StatusOr<UnevenRows> ParseUnevenJsonLines(absl::string_view text);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_UNEVEN_ROWS_H_
