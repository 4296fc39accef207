#ifndef EMBD_SERVER_OBSERVABILITY_HTTP_REQUEST_H_
#define EMBD_SERVER_OBSERVABILITY_HTTP_REQUEST_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

// As much of HTTP/1.1 as an endpoint needs that is only asked for pages: RFC 9112, without bodies of requests and with
// one request a connection.
namespace embd::observability {

/// The longest head of a request that is read.
inline constexpr std::size_t kMaxHttpHeadBytes = 8192;

/// A page, or the reason why there is none.
struct HttpAnswer {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
};

/// What a request asks for.
struct HttpRequest {
  bool is_head = false;  ///< only the head of the answer is wanted
  std::string path;      ///< without the query
  /// Set where the request is refused whatever it asks for: 400 for what is no such request or carries a body, 405 for
  /// another method than GET and HEAD, 431 for a head that is too long.
  std::optional<int> refusal;
};

/// Reads a request from the first bytes of a connection. Nothing while its head has not ended.
///
/// Cost: linear in `bytes`, of which no more than kMaxHttpHeadBytes and a few are needed.
[[nodiscard]] std::optional<HttpRequest> ParseHttpRequest(absl::string_view bytes);

/// "OK", "Not Found", … of the statuses that are used here.
[[nodiscard]] absl::string_view HttpReason(int status);

/// The bytes of the whole answer; without the body where only the head is wanted. The connection ends with it.
[[nodiscard]] std::string EncodeHttpAnswer(const HttpAnswer& answer, bool is_head);

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_HTTP_REQUEST_H_
