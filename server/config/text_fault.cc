#include "server/config/text_fault.h"

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace embd::config {
namespace {

bool IsForbiddenControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7F;
}

std::string HexOf(char c) { return absl::StrCat("0x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2)); }

}  // namespace

std::size_t CharacterLength(absl::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  std::uint32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return overlong || surrogate || code > 0x10FFFF ? 0 : length;
}

std::optional<TextFault> FindTextFault(absl::string_view text) {
  int line = 1;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = CharacterLength(text.substr(i));
    if (length == 0) return TextFault{line, absl::StrCat("must be UTF-8 text, got the byte ", HexOf(text[i]))};
    if (IsForbiddenControl(text[i])) {
      return TextFault{line, absl::StrCat("must be text, got the control character ", HexOf(text[i]))};
    }
    if (text[i] == '\n') ++line;
    i += length;
  }
  return std::nullopt;
}

}  // namespace embd::config
