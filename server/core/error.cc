#include "server/core/error.h"

#include "absl/strings/cord.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace embd::core {
namespace {

// Bytes of the character that `text` begins with; 0 where it begins with none. Overlong forms, surrogates and what is
// beyond U+10FFFF are no characters (RFC 3629).
size_t CharacterLength(absl::string_view text) {
  const auto byte = [&text](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&byte](size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool in_range = (first != 0xE0 || byte(1) >= 0xA0) && (first != 0xED || byte(1) <= 0x9F);
    return in_range && continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool in_range = (first != 0xF0 || byte(1) >= 0x90) && (first != 0xF4 || byte(1) <= 0x8F);
    return in_range && continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

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

std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    if (const size_t length = CharacterLength(text); length > 0) {
      valid.append(text.data(), length);
      text.remove_prefix(length);
    } else {
      absl::StrAppend(&valid, "\\x", absl::Hex(static_cast<unsigned char>(text.front()), absl::kZeroPad2));
      text.remove_prefix(1);
    }
  }
  return valid;
}

std::string Quote(absl::string_view text) {
  constexpr size_t kMaxBytes = 128;
  if (text.size() <= kMaxBytes) return absl::StrCat("\"", ValidUtf8(absl::Utf8SafeCHexEscape(text)), "\"");
  size_t cut = kMaxBytes;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;  // not inside a UTF-8 character
  return absl::StrCat("\"", ValidUtf8(absl::Utf8SafeCHexEscape(text.substr(0, cut))), "…\"");
}

}  // namespace embd::core
