#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/description.h"

namespace embd::cli {
namespace {

Outcome RunDescribe(const std::string& model, const Session& session) {
  const absl::StatusOr<client::ModelDescription> description = session.client.DescribeModel({.model = model});
  if (!description.ok()) return Refused(description.status());
  if (session.json) {
    session.PrintJson(DescriptionJson(*description));
  } else {
    session.world.out << DescriptionText(*description);
  }
  return {};
}

}  // namespace

void AddDescribeCommand(CLI::App& app, Action& action) {
  auto model = std::make_shared<std::string>();
  CLI::App* const command = app.add_subcommand(
      "describe", "All about one model: its tables, counts, checksums, and what was inferred from its files");
  command->add_option("MODEL", *model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command->footer("Example: embdctl describe demo-learned");
  command->callback([model, &action] {
    action.ask_server = [model](const Session& session) { return RunDescribe(*model, session); };
  });
}

}  // namespace embd::cli
