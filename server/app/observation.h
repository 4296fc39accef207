#ifndef EMBD_SERVER_APP_OBSERVATION_H_
#define EMBD_SERVER_APP_OBSERVATION_H_

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "server/app/health.h"
#include "server/app/security.h"
#include "server/observability/http_endpoint.h"
#include "server/service/backend.h"
#include "server/service/model_control.h"

namespace embd::app {

/// What the pages tell of. All of it outlives the endpoint.
struct Observed {
  const service::Backend* backend;
  const Health* health;
  const service::ModelControl* models;
  const std::atomic<bool>* stopping;
  const Security* security;  ///< null: none is told of
};

/// Serves /healthz, /readyz, /metrics and /metrics/triton on every address; nothing where there is none.
///
/// /healthz is 200 as long as the process lives, /readyz 200 while the server is ready and else 503 with the reason.
///
/// Errors:
///   FAILED_PRECONDITION  [CANNOT_LISTEN] an address cannot be bound, or is another server's; names it.
[[nodiscard]] absl::StatusOr<std::unique_ptr<observability::HttpEndpoint>> Observe(
    const std::vector<std::string>& addresses, const Observed& observed);

/// The pages by path.
[[nodiscard]] std::map<std::string, observability::HttpEndpoint::Page> Pages(const Observed& observed);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_OBSERVATION_H_
