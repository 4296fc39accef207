#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/number_list.h"
#include "client/cli/commands/tensor_output.h"

namespace embd::cli {
namespace {

struct CosinesOptions {
  std::string model;
  std::string table;
  std::string rows;
  std::int64_t first_row = 0;
  std::int64_t row_count = 0;
  TensorOutput output;
};

Outcome RunCosines(const CosinesOptions& options, const Session& session) {
  std::vector<std::int64_t> rows;
  if (!options.rows.empty()) {
    auto list = ReadNumberList("--rows", options.rows, session.world);
    if (!list.ok()) return WrongUsage(list.status());
    rows = *std::move(list);
  }
  const auto format = CheckOutput(options.output, DataType::kFloat32, session.json);
  if (!format.ok()) return WrongUsage(format.status());
  const auto result = session.client.CosineSimilarities(
      {.model = options.model,
       .table = client::TableKindFromName(options.table).value_or(client::TableKind::kUnspecified),
       .first_row = options.first_row,
       .row_count = options.row_count,
       .row_ids = std::move(rows)});
  if (!result.ok()) return Refused(result.status());
  const auto n = static_cast<std::int64_t>(result->row_ids.size());
  const std::int64_t shape[] = {n, n};
  const nlohmann::ordered_json facts = {{"model", result->model},
                                        {"model_version", result->model_version},
                                        {"table", std::string(TableKindName(result->table))},
                                        {"row_ids", result->row_ids}};
  return PutTensor({.type = DataType::kFloat32, .shape = shape, .bytes = std::as_bytes(std::span(result->cosines))},
                   "cosines", facts, options.output, *format, session);
}

}  // namespace

void AddCosinesCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<CosinesOptions>();
  CLI::App* const command =
      app.add_subcommand("cosines", "The cosine of each pair of rows of a table: an (n, n) tensor");
  command->add_option("MODEL", options->model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command
      ->add_option("--table", options->table,
                   "Which table: token, position or token_type; without it position, or token where there is none")
      ->type_name("TABLE")
      ->check(CLI::IsMember({"token", "position", "token_type"}));
  CLI::Option* const rows = command->add_option("--rows", options->rows, "These rows, at most 1024, such as \"0 1 5\"");
  rows->type_name("ROWS");
  command->add_option("--first-row", options->first_row, "The first row of a window")
      ->type_name("N")
      ->capture_default_str()
      ->excludes(rows);
  command->add_option("--row-count", options->row_count, "Rows of the window, at most 1024; without it 64")
      ->type_name("N")
      ->excludes(rows);
  AddOutputOptions(*command, options->output);
  command->footer("Example: embdctl cosines demo-learned --row-count 4");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunCosines(*options, session); };
  });
}

}  // namespace embd::cli
