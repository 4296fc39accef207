#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const client::ModelSummary& model) {
  return {{"name", model.name},
          {"version", model.version},
          {"generation", model.generation},
          {"position_encoding", std::string(PositionEncodingName(model.position_encoding))},
          {"vocab_size", model.vocab_size},
          {"embedding_dim", model.embedding_dim},
          {"max_context_length", model.max_context_length ? Json(*model.max_context_length) : Json()},
          {"data_type", std::string(DataTypeName(model.data_type))},
          {"byte_size", model.byte_size},
          {"parameter_count", model.parameter_count}};
}

std::string ToText(const std::vector<client::ModelSummary>& models) {
  std::vector<std::vector<std::string>> rows;
  for (const client::ModelSummary& model : models) {
    rows.push_back({model.name, std::string(PositionEncodingName(model.position_encoding)),
                    absl::StrCat(model.vocab_size), absl::StrCat(model.embedding_dim),
                    model.max_context_length ? absl::StrCat(*model.max_context_length) : "-",
                    std::string(DataTypeName(model.data_type)), absl::StrCat(model.parameter_count),
                    absl::StrCat(model.byte_size), model.version, absl::StrCat(model.generation)});
  }
  return TableText({{"model"},
                    {"positions"},
                    {"vocab", kRight},
                    {"dim", kRight},
                    {"context", kRight},
                    {"type"},
                    {"parameters", kRight},
                    {"bytes", kRight},
                    {"version"},
                    {"generation", kRight}},
                   rows);
}

Outcome RunModels(const Session& session) {
  const absl::StatusOr<std::vector<client::ModelSummary>> models = session.client.ListModels();
  if (!models.ok()) return Refused(models.status());
  if (session.json) {
    Json list = Json::array();
    for (const client::ModelSummary& model : *models) list.push_back(ToJson(model));
    session.PrintJson(list);
  } else {
    session.world.out << ToText(*models);
  }
  return {};
}

}  // namespace

void AddModelsCommand(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand("models", "The models that are served");
  command->footer("Examples: embdctl models\n          embdctl models --output json | jq -r '.[].name'");
  command->callback([&action] { action.ask_server = RunModels; });
}

}  // namespace embd::cli
