#include "server/observability/log_line.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace embd::observability {
namespace {

constexpr absl::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

bool IsPlain(absl::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7F && byte != '"' && byte != '=' && byte != '\\';
  });
}

std::string TextValue(absl::string_view value) {
  return IsPlain(value) && !value.empty() ? std::string(value) : absl::StrCat("\"", absl::CHexEscape(value), "\"");
}

unsigned Byte(absl::string_view text, std::size_t index) {
  return index < text.size() ? static_cast<unsigned char>(text[index]) : 0;
}

// How many bytes at the beginning are one character in UTF-8 (RFC 3629); 0: none.
std::size_t CharacterBytes(absl::string_view text) {
  const auto continues = [&](std::size_t index) { return (Byte(text, index) & 0xC0) == 0x80; };
  const unsigned first = Byte(text, 0);
  const unsigned second = Byte(text, 1);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool overlong = first == 0xF0 && second < 0x90;
    const bool too_large = first == 0xF4 && second >= 0x90;
    return continues(1) && continues(2) && continues(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

void AppendJsonAscii(char c, std::string* out) {
  switch (c) {
    case '"': out->append("\\\""); return;
    case '\\': out->append("\\\\"); return;
    case '\n': out->append("\\n"); return;
    case '\r': out->append("\\r"); return;
    case '\t': out->append("\\t"); return;
    default: break;
  }
  if (c < 0x20 || c == 0x7F) {
    absl::StrAppend(out, "\\u", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad4));
  } else {
    out->push_back(c);
  }
}

std::string Text(absl::Time time, absl::string_view level, absl::string_view message,
                 const std::vector<LogField>& fields) {
  std::string line =
      absl::StrCat(absl::FormatTime("%Y-%m-%dT%H:%M:%E3S%z", time, absl::LocalTimeZone()), " ", level, " ", message);
  for (const LogField& field : fields) {
    absl::StrAppend(&line, " ", field.name, "=");
    if (const auto* const number = std::get_if<std::int64_t>(&field.value)) {
      absl::StrAppend(&line, *number);
    } else {
      line += TextValue(std::get<absl::string_view>(field.value));
    }
  }
  return line;
}

std::string Json(absl::Time time, absl::string_view level, absl::string_view message,
                 const std::vector<LogField>& fields) {
  std::string line = absl::StrCat("{\"time\":\"", absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", time, absl::UTCTimeZone()),
                                  "\",\"level\":", JsonString(level), ",\"message\":", JsonString(message));
  for (const LogField& field : fields) {
    absl::StrAppend(&line, ",", JsonString(field.name), ":");
    if (const auto* const number = std::get_if<std::int64_t>(&field.value)) {
      absl::StrAppend(&line, *number);
    } else {
      line += JsonString(std::get<absl::string_view>(field.value));
    }
  }
  line += "}";
  return line;
}

}  // namespace

std::string JsonString(absl::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t size = CharacterBytes(text);
    if (size == 1) {
      AppendJsonAscii(text[0], &out);
    } else {
      out.append(size == 0 ? std::string(kReplacement) : std::string(text.substr(0, size)));
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  out += "\"";
  return out;
}

std::string FormatLogLine(LogFormat format, absl::Time time, absl::string_view level, absl::string_view message,
                          const std::vector<LogField>& fields) {
  return format == LogFormat::kJson ? Json(time, level, message, fields) : Text(time, level, message, fields);
}

}  // namespace embd::observability
