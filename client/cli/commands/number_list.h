#ifndef EMBD_CLIENT_CLI_COMMANDS_NUMBER_LIST_H_
#define EMBD_CLIENT_CLI_COMMANDS_NUMBER_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands/session.h"
#include "client/cli/files/uneven_rows.h"

namespace embd::cli {

/// The rows of an option such as --type-ids: its text, or for "@FILE" what the file holds, whose ending tells the
/// format ("@-": standard input, as JSON).
///
/// Errors (each message begins with `flag`):
///   INVALID_ARGUMENT  text or file cannot be read.
[[nodiscard]] absl::StatusOr<UnevenRows> ReadNumberRows(const std::string& flag, const std::string& value,
                                                        const Surroundings& world);

/// The same where there are no rows. Errors as above, and where there are several rows.
[[nodiscard]] absl::StatusOr<std::vector<std::int64_t>> ReadNumberList(const std::string& flag,
                                                                       const std::string& value,
                                                                       const Surroundings& world);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_NUMBER_LIST_H_
