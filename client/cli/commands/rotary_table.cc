#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/rotary_flags.h"
#include "client/cli/commands/tensor_output.h"

namespace embd::cli {
namespace {

struct TableOptions {
  RotaryFlags rotary;
  std::int64_t first = 0;
  std::int64_t length = 0;
  TensorOutput output;
};

// Cosines and sines as one (2, length, pairs) tensor.
Tensor Joined(const client::RotaryTable& table) {
  const auto cos = std::as_bytes(table.cos());
  const auto sin = std::as_bytes(table.sin());
  Tensor tensor = {.type = DataType::kFloat32, .shape = {2, table.rows(), table.pairs()}};
  tensor.bytes.assign(cos.begin(), cos.end());
  tensor.bytes.insert(tensor.bytes.end(), sin.begin(), sin.end());
  return tensor;
}

Outcome RunTable(const TableOptions& options, const Session& session) {
  auto parameters = ParametersOf(options.rotary);
  if (!parameters.ok()) return WrongUsage(parameters.status());
  const auto format = CheckOutput(options.output, DataType::kFloat32, session.json);
  if (!format.ok()) return WrongUsage(format.status());
  const auto table = session.client.RotaryTable({.model = options.rotary.model,
                                                 .parameters = *std::move(parameters),
                                                 .layer_type = options.rotary.layer_type,
                                                 .first_position = options.first,
                                                 .length = options.length,
                                                 .scaling_length = options.rotary.scaling_length});
  if (!table.ok()) return Refused(table.status());
  const Tensor tensor = Joined(*table);
  const nlohmann::ordered_json facts = {{"attention_factor", table->attention_factor()}, {"shape", tensor.shape}};
  return PutTensor(tensor.view(), "cos_sin", facts, options.output, *format, session);
}

}  // namespace

void AddRotaryTableCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<TableOptions>();
  CLI::App* const command =
      app.add_subcommand("rotary-table", "Cosines and sines of a rotary encoding: a (2, length, pairs) tensor");
  AddRotaryFlags(*command, options->rotary);
  command->add_option("--first", options->first, "The first position")->type_name("N")->capture_default_str();
  command->add_option("--length", options->length, "How many positions")->required()->type_name("N");
  AddOutputOptions(*command, options->output);
  command->footer(
      "The attention factor of yarn and longrope scaling is multiplied in.\n"
      "Example: embdctl rotary-table --head-dim 8 --length 4");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunTable(*options, session); };
  });
}

}  // namespace embd::cli
