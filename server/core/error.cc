#include "server/core/error.h"

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace embd::core {

absl::Status Error(absl::StatusCode code, absl::string_view reason, absl::string_view message) {
  absl::Status status(code, message);
  status.SetPayload(kReasonPayload, absl::Cord(reason));
  return status;
}

absl::Status InvalidArgument(absl::string_view reason, absl::string_view message) {
  return Error(absl::StatusCode::kInvalidArgument, reason, message);
}

std::string ErrorReason(const absl::Status& status) {
  const auto payload = status.GetPayload(kReasonPayload);
  return payload.has_value() ? std::string(*payload) : std::string();
}

std::string Quote(absl::string_view text) {
  constexpr size_t kMaxBytes = 128;
  if (text.size() <= kMaxBytes) return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text), "\"");
  size_t cut = kMaxBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a UTF-8 character
  return absl::StrCat("\"", absl::Utf8SafeCHexEscape(text.substr(0, cut)), "…\"");
}

}  // namespace embd::core
