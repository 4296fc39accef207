// Whoever watches the server.

#include <string>
#include <vector>

#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"
#include "tests/support/health_watch.h"
#include "tests/support/http_exchange.h"

namespace embd::stress {
namespace {

using ::testing::AnyOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

Action::Step Scrape(Life& life) {
  return [&life](Actor& actor) {
    const std::string address = life.server().metrics_addresses()[0];
    EXPECT_THAT(testing::HttpGet(address, "/metrics"),
                AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("embd_rows_total")));
    EXPECT_THAT(testing::HttpGet(address, "/healthz"), EndsWith("\r\n\r\nok\n"));
    EXPECT_THAT(testing::HttpGet(address, "/readyz"), AnyOf(StartsWith("HTTP/1.1 200 "), StartsWith("HTTP/1.1 503 ")));
    EXPECT_GT(life.server().calls_begun() + 1, 0u);
    actor.Answered(absl::OkStatus());
    actor.Pause(5000);
  };
}

Action::Step CheckHealth(Life& life) {
  return [client = life.Tcp()](Actor& actor) {
    actor.Answered(client.CheckHealth(actor.Among(Corpus::FleetingModels())).status(), {"SERVICE_UNKNOWN"});
    const auto server = client.CheckHealth();
    if (actor.Answered(server.status()))
      actor.Answered(*server == client::HealthStatus::kServing ? absl::OkStatus()
                                                               : absl::UnavailableError("not serving"));
    actor.Pause(2000);
  };
}

Action::Step WatchHealth(Life& life) {
  return [&life](Actor& actor) {
    testing::HealthWatch watch(life.unix_address());
    const std::string status = watch.Next();
    actor.Answered(status == testing::HealthWatch::kServing ? absl::OkStatus() : absl::UnavailableError(status));
    actor.Pause(5000);
  };
}

}  // namespace

std::vector<Action> ObservationActions() {
  return {
      {"/metrics, /healthz and /readyz", 1, Scrape}, {"CheckHealth", 1, CheckHealth}, {"health watch", 1, WatchHealth}};
}

}  // namespace embd::stress
