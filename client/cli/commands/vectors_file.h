#ifndef EMBD_CLIENT_CLI_COMMANDS_VECTORS_FILE_H_
#define EMBD_CLIENT_CLI_COMMANDS_VECTORS_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/commands/session.h"
#include "embd/client/input_tensor.h"

namespace embd::cli {

/// The vectors of a file, whose ending tells the format unless `format` names it; "-": standard input, as JSON.
///
/// Errors (each message begins with the path):
///   INVALID_ARGUMENT  those of FormatOf and ReadTensor; the file holds whole numbers.
[[nodiscard]] absl::StatusOr<client::InputTensor> ReadVectorsFile(const std::string& path, const std::string& format,
                                                                  const Surroundings& world);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_VECTORS_FILE_H_
