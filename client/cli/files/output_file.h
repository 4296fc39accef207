#ifndef EMBD_CLIENT_CLI_FILES_OUTPUT_FILE_H_
#define EMBD_CLIENT_CLI_FILES_OUTPUT_FILE_H_

#include <functional>
#include <iosfwd>
#include <string>

#include "absl/status/status.h"

namespace embd::cli {

/// Makes a file of what `write` writes. It is written under another name beside its place and then renamed, so that a
/// failure leaves what was there before; it keeps the mode of a file that it replaces, and goes where symbolic links
/// lead. A path that is no regular file (a device, a named pipe) is written directly.
///
/// Errors (each message begins with the path):
///   INVALID_ARGUMENT  the file cannot be written, with the system's reason; or what `write` returns.
[[nodiscard]] absl::Status WriteOutputFile(const std::string& path,
                                           const std::function<absl::Status(std::ostream&)>& write);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_OUTPUT_FILE_H_
