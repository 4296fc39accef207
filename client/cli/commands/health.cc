#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/number_range.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

struct HealthOptions {
  std::string service;
  double wait_s = 0;
};

using Health = absl::StatusOr<client::HealthStatus>;

bool Serves(const Health& health) { return health.ok() && *health == client::HealthStatus::kServing; }

// A model that is still being loaded may not be known yet.
bool MayChange(const Health& health) {
  return health.ok() || absl::IsNotFound(health.status()) || absl::IsUnavailable(health.status());
}

Health WaitUntilServing(const HealthOptions& options, const Session& session) {
  const absl::Duration kPause = absl::Milliseconds(100);
  const absl::Time end = session.world.now() + absl::Seconds(options.wait_s);
  while (true) {
    const absl::Duration left = std::max(end - session.world.now(), absl::Milliseconds(1));
    Health health = session.client.CheckHealth(options.service, {.timeout = left, .wait_for_ready = true});
    if (Serves(health) || !MayChange(health) || session.world.now() + kPause >= end) return health;
    session.world.sleep(kPause);
  }
}

Outcome Failed(const HealthOptions& options, const absl::Status& status) {
  Outcome outcome = Refused(status);
  if (!options.service.empty()) absl::StrAppend(&outcome.message, "; asked for service ", Quoted(options.service));
  if (options.wait_s > 0) {
    absl::StrAppend(&outcome.message, "; waited up to ", options.wait_s, " s");
    outcome.timed_out = false;  // --timeout has no part in it
  }
  return outcome;
}

Outcome RunHealth(const HealthOptions& options, const Session& session) {
  const Health health =
      options.wait_s > 0 ? WaitUntilServing(options, session) : session.client.CheckHealth(options.service);
  if (!health.ok()) return Failed(options, health.status());
  const std::string status(client::HealthStatusName(*health));
  if (session.json) {
    session.PrintJson({{"service", options.service}, {"status", status}});
  } else {
    session.world.out << status << '\n';
  }
  return {.code = Serves(health) ? ExitCode::kDone : ExitCode::kRefused};
}

}  // namespace

void AddHealthCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<HealthOptions>();
  CLI::App* const command = app.add_subcommand("health", "Whether the server, a service or a model is serving");
  command->add_option("--service", options->service, "Name of a service or model; without it the whole server")
      ->type_name("NAME");
  command->add_option("--wait", options->wait_s, "Wait up to S seconds until it serves; --timeout does not count then")
      ->type_name("S")
      ->check(SecondsFrom(0, 1e9));
  command->footer(
      "Exit: 0 serving, 1 not serving or unknown, 3 not reachable.\n"
      "Examples: embdctl health --wait 30\n"
      "          embdctl health --service demo-learned");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunHealth(*options, session); };
  });
}

}  // namespace embd::cli
