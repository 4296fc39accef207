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
  constexpr std::size_t kShown = 256;
  const auto escaped = [](absl::string_view part) { return core::ValidUtf8(absl::Utf8SafeCHexEscape(part)); };
  if (path.empty()) return "\"\"";
  if (path.size() <= 2 * kShown) return escaped(path);
  return absl::StrCat(escaped(path.substr(0, kShown)), "…", escaped(path.substr(path.size() - kShown)));
}

}  // namespace embd::formats
