#include "server/config/config_error.h"

#include <cstddef>
#include <utility>

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/config/text_fault.h"

namespace embd::config {
namespace {

absl::Status WithReason(absl::StatusCode code, absl::string_view message) {
  absl::Status status(code, message);
  status.SetPayload("embd.v1/reason", absl::Cord("INVALID_CONFIG"));
  return status;
}

}  // namespace

absl::Status InvalidConfig(absl::string_view message) {
  return WithReason(absl::StatusCode::kInvalidArgument, message);
}

absl::Status UnreadableConfig(absl::string_view message) { return WithReason(absl::StatusCode::kNotFound, message); }

std::string Quote(absl::string_view text) {
  constexpr std::size_t kMaxBytes = 128;
  std::size_t end = text.size();
  if (end > kMaxBytes) {
    end = kMaxBytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
  }
  const absl::string_view shown = text.substr(0, end);
  return absl::StrCat("\"",
                      FindTextFault(shown).has_value() ? absl::CHexEscape(shown) : absl::Utf8SafeCHexEscape(shown),
                      end < text.size() ? "…\"" : "\"");
}

FirstError::FirstError(std::string file_name) : file_name_(std::move(file_name)) {}

void FirstError::Report(int line, absl::string_view key_path, absl::string_view message) {
  if (!status_.ok()) return;
  status_ = InvalidConfig(absl::StrCat(file_name_, ":", line, ": ", key_path, key_path.empty() ? "" : ": ", message));
}

}  // namespace embd::config
