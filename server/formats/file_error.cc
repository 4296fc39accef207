#include "server/formats/file_error.h"

#include <cstddef>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::formats {

absl::Status InvalidFile(absl::string_view message) { return core::InvalidArgument("INVALID_FILE", message); }

absl::Status UnsupportedFormat(absl::string_view message) {
  return core::Error(absl::StatusCode::kUnimplemented, "UNSUPPORTED_FORMAT", message);
}

absl::Status AtPath(absl::string_view path, const absl::Status& error) {
  return core::Error(error.code(), core::ErrorReason(error), absl::StrCat(DisplayPath(path), ": ", error.message()));
}

std::string Count(std::int64_t count, absl::string_view noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string DisplayPath(absl::string_view path) {
  constexpr std::size_t kMaxBytes = 512;
  if (path.empty()) return "\"\"";
  if (path.size() <= kMaxBytes) return core::ValidUtf8(absl::Utf8SafeCHexEscape(path));
  return absl::StrCat("…", core::ValidUtf8(absl::Utf8SafeCHexEscape(path.substr(path.size() - kMaxBytes))));
}

}  // namespace embd::formats
