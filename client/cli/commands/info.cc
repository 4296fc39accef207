#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

nlohmann::ordered_json ToJson(const client::ServerInfo& info) {
  return {{"version", info.version},
          {"build", info.build},
          {"api_revision", info.api_revision},
          {"capabilities", info.capabilities},
          {"simd_target", info.simd_target},
          {"limits",
           {{"max_request_bytes", info.limits.max_request_bytes},
            {"max_response_bytes", info.limits.max_response_bytes},
            {"max_batch_size", info.limits.max_batch_size},
            {"max_sequence_length", info.limits.max_sequence_length},
            {"max_bytes_in_flight", info.limits.max_bytes_in_flight}}}};
}

std::string ToText(const client::ServerInfo& info) {
  return FieldsText({{"version", info.version},
                     {"build", info.build},
                     {"api revision", absl::StrCat(info.api_revision)},
                     {"capabilities", absl::StrJoin(info.capabilities, ", ")},
                     {"simd target", info.simd_target},
                     {"max request bytes", absl::StrCat(info.limits.max_request_bytes)},
                     {"max response bytes", absl::StrCat(info.limits.max_response_bytes)},
                     {"max batch size", absl::StrCat(info.limits.max_batch_size)},
                     {"max sequence length", absl::StrCat(info.limits.max_sequence_length)},
                     {"max bytes in flight", absl::StrCat(info.limits.max_bytes_in_flight)}});
}

Outcome RunInfo(const Session& session) {
  const absl::StatusOr<client::ServerInfo> info = session.client.GetServerInfo();
  if (!info.ok()) return Refused(info.status());
  if (session.json) {
    session.PrintJson(ToJson(*info));
  } else {
    session.world.out << ToText(*info);
  }
  return {};
}

}  // namespace

void AddInfoCommand(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("info", "Version, limits and capabilities of the server");
  command->footer("Example: embdctl --server localhost:8001 info");
  command->callback([&action] { action.ask_server = RunInfo; });
}

}  // namespace embd::cli
