#ifndef EMBD_SERVER_APP_SECRET_FILE_H_
#define EMBD_SERVER_APP_SECRET_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace embd::app {

/// A small file that only its owner should see.
struct SecretFile {
  std::string text;
  bool others_may_read = false;  ///< whether any user of this machine may
};

/// Reads a file of at most 1 MiB.
///
/// Errors, without the path:
///   FAILED_PRECONDITION  it cannot be read, is no file, or is larger.
[[nodiscard]] absl::StatusOr<SecretFile> ReadSecretFile(const std::string& path);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_SECRET_FILE_H_
