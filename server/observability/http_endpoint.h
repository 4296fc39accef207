#ifndef EMBD_SERVER_OBSERVABILITY_HTTP_ENDPOINT_H_
#define EMBD_SERVER_OBSERVABILITY_HTTP_ENDPOINT_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/observability/http_request.h"

namespace embd::observability {

/// A few pages over HTTP, for probes and scrapers: GET and HEAD of exact paths, 404 for everything else.
///
/// One thread serves all connections and waits for none of them, so that a peer that sends or reads slowly keeps no
/// other one waiting. It has a bounded number of connections; where all are taken, the one that came first makes room.
/// A connection carries one request, and ends `kMaxConnectionTime` after it began, whatever it has got by then.
///
/// Thread safety: thread-safe. The destructor ends all connections and joins the thread.
class HttpEndpoint {
 public:
  static constexpr std::size_t kMaxConnections = 64;
  static constexpr std::chrono::seconds kMaxConnectionTime{5};

  /// Makes a page, on the endpoint's thread. Must be quick, and may throw nothing but std::bad_alloc: a 503 then.
  using Page = std::function<HttpAnswer()>;

  /// Binds every address, HOST:PORT or [IPV6]:PORT, and serves `pages`, which are named by their paths.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  an address cannot be bound; names it, with the system's reason.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<HttpEndpoint>> Start(const std::vector<std::string>& addresses,
                                                                           std::map<std::string, Page> pages);

  virtual ~HttpEndpoint() = default;

  /// The bound addresses in their order, with real ports in place of 0.
  [[nodiscard]] virtual const std::vector<std::string>& addresses() const = 0;
};

}  // namespace embd::observability

#endif  // EMBD_SERVER_OBSERVABILITY_HTTP_ENDPOINT_H_
