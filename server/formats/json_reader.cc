#include "server/formats/json_reader.h"

#include "absl/strings/str_cat.h"
#include "server/formats/file_error.h"

namespace embd::formats {

bool JsonHandler::parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) {
  return Fail(absl::StrCat("byte ", offset_ + (position == 0 ? 0 : position - 1), ": the text is not valid JSON"));
}

bool JsonHandler::Fail(absl::string_view message) {
  status_ = InvalidFile(message);
  return false;
}

absl::Status ParseJson(absl::string_view text, std::uint64_t offset, JsonHandler& handler) {
  // The parser takes a zero byte for the end, and skips a byte order mark; JSON knows neither.
  if (const std::size_t zero = text.find('\0'); zero != absl::string_view::npos) {
    return InvalidFile(absl::StrCat("byte ", offset + zero, ": the text is not valid JSON: a zero byte"));
  }
  if (absl::string_view(text).substr(0, 3) == "\xEF\xBB\xBF") {
    return InvalidFile(absl::StrCat("byte ", offset, ": the text is not valid JSON: a byte order mark"));
  }
  handler.offset_ = offset;
  const bool complete = nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &handler);
  if (!complete && handler.status_.ok()) return InvalidFile("the text is not valid JSON");
  return handler.status_;
}

}  // namespace embd::formats
