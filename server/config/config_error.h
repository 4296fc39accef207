#ifndef EMBD_SERVER_CONFIG_CONFIG_ERROR_H_
#define EMBD_SERVER_CONFIG_CONFIG_ERROR_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace embd::config {

/// INVALID_ARGUMENT with the reason INVALID_CONFIG in the payload "embd.v1/reason", as all errors of the server carry
/// theirs.
[[nodiscard]] absl::Status InvalidConfig(absl::string_view message);

/// NOT_FOUND with the reason INVALID_CONFIG: a file that cannot be read.
[[nodiscard]] absl::Status UnreadableConfig(absl::string_view message);

/// `text` in double quotes for use in a message: escaped, so that it is UTF-8 whatever it was, and cut with "…" after
/// 128 bytes.
[[nodiscard]] std::string Quote(absl::string_view text);

/// Keeps the first thing that was found wrong with one file, so that reading code can go on and be asked once.
///
/// Thread safety: not thread-safe.
class FirstError {
 public:
  /// `file_name` leads every message.
  explicit FirstError(std::string file_name);

  /// Keeps "FILE:LINE: KEY PATH: message" unless something was kept before. `line` counts from 1; an empty `key_path`
  /// is left out.
  void Report(int line, absl::string_view key_path, absl::string_view message);

  /// OK, or what was reported first: INVALID_ARGUMENT [INVALID_CONFIG].
  [[nodiscard]] const absl::Status& status() const { return status_; }

 private:
  std::string file_name_;
  absl::Status status_;
};

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_CONFIG_ERROR_H_
