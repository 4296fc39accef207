#ifndef EMBD_CLIENT_SRC_CREDENTIAL_FILE_H_
#define EMBD_CLIENT_SRC_CREDENTIAL_FILE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace embd::client {

/// Reads a file of certificates, a key or a token, of at most 1 MiB. `option` is the one that named it, for messages.
///
/// Errors, which never show what is in the file:
///   INVALID_ARGUMENT  it cannot be read, is no file, or is larger.
[[nodiscard]] absl::StatusOr<std::string> ReadCredentialFile(absl::string_view option, const std::string& path);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CREDENTIAL_FILE_H_
