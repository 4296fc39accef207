#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/stats_text.h"
#include "client/cli/commands/waiting.h"

namespace embd::cli {
namespace {

struct StatsOptions {
  std::string model;
  std::string table = "token";
  std::int32_t bins = 0;
};

nlohmann::ordered_json ToJson(const client::TableStatistics& statistics) {
  return {{"model", statistics.model},
          {"model_version", statistics.model_version},
          {"table", std::string(TableKindName(statistics.table))},
          {"rows", statistics.rows},
          {"embedding_dim", statistics.embedding_dim},
          {"data_type", std::string(DataTypeName(statistics.data_type))},
          {"parameter_count", statistics.parameter_count},
          {"byte_size", statistics.byte_size},
          {"checksum", statistics.checksum},
          {"mean", statistics.mean},
          {"std", statistics.std},
          {"min", statistics.min},
          {"max", statistics.max},
          {"norm_mean", statistics.norm_mean},
          {"norm_std", statistics.norm_std},
          {"norm_min", statistics.norm_min},
          {"norm_max", statistics.norm_max},
          {"nan_count", statistics.nan_count},
          {"inf_count", statistics.inf_count},
          {"zero_rows", statistics.zero_rows},
          {"duplicate_rows", statistics.duplicate_rows},
          {"first_bad_cell", statistics.first_bad_cell},
          {"bad_rows", statistics.bad_rows},
          {"first_zero_rows", statistics.first_zero_rows},
          {"first_duplicate_rows", statistics.first_duplicate_rows},
          {"duplicates_of", statistics.duplicates_of},
          {"histogram_edges", statistics.histogram_edges},
          {"histogram_counts", statistics.histogram_counts}};
}

Outcome RunStats(const StatsOptions& options, const Session& session) {
  const absl::StatusOr<client::TableStatistics> statistics = WhileWaiting(session, [&] {
    return session.client.TableStatistics(
        {.model = options.model,
         .table = client::TableKindFromName(options.table).value_or(client::TableKind::kUnspecified),
         .histogram_bins = options.bins});
  });
  if (!statistics.ok()) return Refused(statistics.status());
  if (session.json) {
    session.PrintJson(ToJson(*statistics));
  } else {
    session.world.out << StatsText(*statistics, session.world.out_is_terminal);
  }
  return {};
}

}  // namespace

void AddStatsCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<StatsOptions>();
  CLI::App* const command =
      app.add_subcommand("stats", "Mean, deviation and norms of a table, and what is wrong with it");
  command->add_option("MODEL", options->model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command->add_option("--table", options->table, "Which table: token, position or token_type")
      ->type_name("TABLE")
      ->check(CLI::IsMember({"token", "position", "token_type"}))
      ->capture_default_str();
  command->add_option("--bins", options->bins, "Bins of the histogram of row norms; without it 20")->type_name("N");
  command->footer("Example: embdctl stats demo-learned --bins 10");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunStats(*options, session); };
  });
}

}  // namespace embd::cli
