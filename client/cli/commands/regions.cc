#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

Outcome RunList(const Session& session) {
  const absl::StatusOr<std::vector<client::Region>> regions = session.client.ListRegions();
  if (!regions.ok()) return Refused(regions.status());
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const client::Region& region : *regions) {
    list.push_back(
        {{"name", region.name}, {"path", region.path}, {"offset", region.offset}, {"byte_size", region.byte_size}});
    rows.push_back({region.name, absl::StrCat(region.byte_size), absl::StrCat(region.offset), region.path});
  }
  if (session.json) {
    session.PrintJson(list);
  } else {
    session.world.out << TableText({{"region"}, {"bytes", kRight}, {"offset", kRight}, {"file"}}, rows);
  }
  return {};
}

Outcome RunUnregister(const Session& session, const std::string& name) {
  const absl::Status status = session.client.UnregisterRegion(name);
  if (!status.ok()) return Refused(status);
  if (session.json) session.PrintJson(Json{{"unregistered", name}});
  return {};
}

}  // namespace

void AddRegionsCommand(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "regions", "The regions of shared memory that callers have registered; through the server's Unix socket");
  const auto name = std::make_shared<std::string>();
  command->add_option("--unregister", *name, "Forget this region, such as one whose owner has ended without a word")
      ->type_name("NAME");
  command->footer(
      "Examples: embdctl --server unix:/run/embd.sock regions\n"
      "          embdctl --server unix:/run/embd.sock regions --unregister 4711-0123456789abcdef");
  command->callback([&action, name] {
    action.ask_server = [name](const Session& session) {
      return name->empty() ? RunList(session) : RunUnregister(session, *name);
    };
  });
}

}  // namespace embd::cli
