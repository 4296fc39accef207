#include "server/app/observation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/app/metrics.h"
#include "server/core/error.h"
#include "server/observability/metric_text.h"

namespace embd::app {
namespace {

using observability::HttpAnswer;

HttpAnswer Readiness(const Observed& observed) {
  if (observed.health->IsServing()) return {.body = "ready\n"};
  if (observed.stopping->load()) return {.status = 503, .body = "not ready: draining\n"};
  std::string body = "not ready: starting\n";
  for (const service::ModelControl::Entry& each : observed.models->Index()) {
    if (each.state == service::ModelControl::State::kReady) continue;
    absl::StrAppend(&body, "model ", core::Quote(each.name), ": ", each.reason, "\n");
  }
  return {.status = 503, .body = std::move(body)};
}

}  // namespace

std::map<std::string, observability::HttpEndpoint::Page> Pages(const Observed& observed) {
  // One for both pages, whose share of the CPUs is then that since the last look at either.
  const auto metrics = std::make_shared<Metrics>(observed.backend, observed.health, observed.security);
  const auto figures = [metrics](Metrics::Names names) {
    return [metrics, names] {
      return HttpAnswer{.content_type = std::string(observability::kMetricContentType),
                        .body = metrics->Collect(names)};
    };
  };
  return {{"/healthz", [] { return HttpAnswer{.body = "ok\n"}; }},
          {"/readyz", [observed] { return Readiness(observed); }},
          {"/metrics", figures(Metrics::Names::kChecked)},
          {"/metrics/triton", figures(Metrics::Names::kTriton)}};
}

absl::StatusOr<std::unique_ptr<observability::HttpEndpoint>> Observe(const std::vector<std::string>& addresses,
                                                                     const Observed& observed) {
  if (addresses.empty()) return nullptr;
  auto endpoint = observability::HttpEndpoint::Start(addresses, Pages(observed));
  if (endpoint.ok()) return endpoint;
  return core::Error(absl::StatusCode::kFailedPrecondition, "CANNOT_LISTEN",
                     absl::StrCat("metrics: ", endpoint.status().message(),
                                  "; server.metrics.listen or --metrics-listen names another address, or none"));
}

}  // namespace embd::app
