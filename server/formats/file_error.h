#ifndef EMBD_SERVER_FORMATS_FILE_ERROR_H_
#define EMBD_SERVER_FORMATS_FILE_ERROR_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace embd::formats {

/// INVALID_ARGUMENT [INVALID_FILE]: the bytes break the format's rules. `message` begins with the place: a byte offset,
/// a line or a key.
[[nodiscard]] absl::Status InvalidFile(absl::string_view message);

/// UNIMPLEMENTED [UNSUPPORTED_FORMAT]: well formed, but not served.
[[nodiscard]] absl::Status UnsupportedFormat(absl::string_view message);

/// `error` with "path: " before its message; code and reason stay. Inside this folder errors do not name the file: the
/// function that was given the path adds it, once.
[[nodiscard]] absl::Status AtPath(absl::string_view path, const absl::Status& error);

/// "1 word", "2 words": `count` and `noun`, which is in the singular and takes an s.
[[nodiscard]] std::string Count(std::int64_t count, absl::string_view noun);

/// `path` for a message: escaped, and only its first and last 256 bytes where it is longer than both together. (A name
/// in a folder has at most 255.)
[[nodiscard]] std::string DisplayPath(absl::string_view path);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_FILE_ERROR_H_
