#include "server/observability/http_request.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace embd::observability {
namespace {

HttpRequest Refuse(int status) {
  HttpRequest request;
  request.refusal = status;
  return request;
}

// The head without the empty line that ends it; nothing where that is not there yet.
std::optional<absl::string_view> HeadOf(absl::string_view bytes) {
  const std::size_t end = std::min(bytes.find("\r\n\r\n"), bytes.find("\n\n"));
  if (end == absl::string_view::npos) return std::nullopt;
  return bytes.substr(0, end);
}

bool IsVisible(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

// A body would have to be read to its end before the answer is sure to arrive.
bool AnnouncesBody(absl::string_view header) {
  const std::size_t colon = header.find(':');
  if (colon == absl::string_view::npos) return false;
  const absl::string_view name = header.substr(0, colon);
  if (absl::EqualsIgnoreCase(name, "transfer-encoding")) return true;
  return absl::EqualsIgnoreCase(name, "content-length") && absl::StripAsciiWhitespace(header.substr(colon + 1)) != "0";
}

}  // namespace

std::optional<HttpRequest> ParseHttpRequest(absl::string_view bytes) {
  const std::optional<absl::string_view> head = HeadOf(bytes);
  if (!head.has_value()) {
    if (bytes.size() > kMaxHttpHeadBytes) return Refuse(431);
    return std::nullopt;
  }
  if (head->size() > kMaxHttpHeadBytes) return Refuse(431);
  const std::vector<absl::string_view> lines = absl::StrSplit(*head, '\n');
  const std::vector<absl::string_view> words = absl::StrSplit(absl::StripSuffix(lines[0], "\r"), ' ');
  if (words.size() != 3 || (words[2] != "HTTP/1.1" && words[2] != "HTTP/1.0")) return Refuse(400);
  if (!absl::StartsWith(words[1], "/") || !IsVisible(words[1])) return Refuse(400);
  if (words[0] != "GET" && words[0] != "HEAD") return Refuse(405);
  if (std::any_of(lines.begin() + 1, lines.end(), &AnnouncesBody)) return Refuse(400);
  HttpRequest request;
  request.is_head = words[0] == "HEAD";
  request.path = std::string(words[1].substr(0, words[1].find('?')));
  return request;
}

absl::string_view HttpReason(int status) {
  switch (status) {
    case 200: return "OK";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 431: return "Request Header Fields Too Large";
    case 503: return "Service Unavailable";
    default: return "Internal Server Error";
  }
}

std::string EncodeHttpAnswer(const HttpAnswer& answer, bool is_head) {
  std::string bytes =
      absl::StrCat("HTTP/1.1 ", answer.status, " ", HttpReason(answer.status),
                   "\r\nContent-Type: ", answer.content_type, "\r\nContent-Length: ", answer.body.size(),
                   "\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
                   "Connection: close\r\n",
                   answer.status == 405 ? "Allow: GET, HEAD\r\n" : "", "\r\n");
  if (!is_head) bytes += answer.body;
  return bytes;
}

}  // namespace embd::observability
