#include <CLI/CLI.hpp>
#include <cstddef>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/number_list.h"
#include "client/cli/commands/vectors_file.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

struct ProjectOptions {
  std::string model;
  std::string vectors;
  std::string vectors_format;
  std::int32_t top_k = 0;
  std::optional<double> scale;
  std::optional<double> softcap;
  std::string candidates;
  bool raw = false;
  bool log_probabilities = false;
  bool tokens = false;
};

// The values of each vector in a list of its own.
template <typename T>
nlohmann::ordered_json ByVector(const std::vector<T>& values, std::int64_t k) {
  auto lists = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % static_cast<std::size_t>(k) == 0) lists.push_back(nlohmann::ordered_json::array());
    lists.back().push_back(values[i]);
  }
  return lists;
}

nlohmann::ordered_json ToJson(const client::Projection& projection, const ProjectOptions& options) {
  nlohmann::ordered_json json = {{"model", projection.model},
                                 {"model_version", projection.model_version},
                                 {"tied", projection.tied},
                                 {"ids", ByVector(projection.ids, projection.k)}};
  if (options.tokens) json["tokens"] = ByVector(projection.tokens, projection.k);
  json[options.log_probabilities ? "log_probabilities" : "scores"] = ByVector(projection.scores, projection.k);
  if (options.log_probabilities) json["log_sum_exp"] = projection.log_sum_exp;
  return json;
}

std::string ToText(const client::Projection& projection, const ProjectOptions& options) {
  std::vector<Column> columns = {{"vector", kRight}, {"id", kRight}};
  if (options.tokens) columns.push_back({"token"});
  columns.push_back({options.log_probabilities ? "log probability" : "score", kRight});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < projection.ids.size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(absl::StrCat(i / static_cast<std::size_t>(projection.k)));
    row.push_back(absl::StrCat(projection.ids[i]));
    if (options.tokens) row.push_back(i < projection.tokens.size() ? projection.tokens[i] : "-");
    row.push_back(absl::StrFormat("%.6g", projection.scores[i]));
  }
  return TableText(columns, rows);
}

absl::StatusOr<client::ProjectRequest> RequestOf(const ProjectOptions& options, const Surroundings& world) {
  client::ProjectRequest request = {.model = options.model,
                                    .top_k = options.top_k,
                                    .scale = options.scale,
                                    .softcap = options.softcap,
                                    .raw_scores = options.raw,
                                    .log_probabilities = options.log_probabilities,
                                    .with_tokens = options.tokens};
  if (!options.candidates.empty()) {
    auto candidates = ReadNumberList("--candidates", options.candidates, world);
    if (!candidates.ok()) return candidates.status();
    request.candidate_ids = *std::move(candidates);
  }
  auto vectors = ReadVectorsFile(options.vectors, options.vectors_format, world);
  if (!vectors.ok()) return vectors.status();
  request.vectors = *std::move(vectors);
  return request;
}

Outcome RunProject(const ProjectOptions& options, const Session& session) {
  const auto request = RequestOf(options, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  const absl::StatusOr<client::Projection> projection = session.client.Project(*request);
  if (!projection.ok()) return Refused(projection.status());
  if (session.json) {
    session.PrintJson(ToJson(*projection, options));
  } else {
    session.world.out << ToText(*projection, options);
  }
  return {};
}

void AddScoreOptions(CLI::App& command, ProjectOptions& options) {
  CLI::Option* const scale =
      command.add_option("--scale", options.scale, "Of dot products, in place of the model's")->type_name("S");
  CLI::Option* const softcap =
      command.add_option("--softcap", options.softcap, "Bound of scores, in place of the model's")->type_name("C");
  command.add_flag("--raw", options.raw, "Dot products alone, also of a model that projects by another table")
      ->excludes(scale)
      ->excludes(softcap);
  command.add_flag("--log-probabilities", options.log_probabilities, "Logarithms of the softmax over all rows");
  command.add_flag("--tokens", options.tokens, "Name the words, too");
}

}  // namespace

void AddProjectCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<ProjectOptions>();
  CLI::App* const command = app.add_subcommand("project", "Score vectors against a model's output projection");
  command->add_option("MODEL", options->model, "Name of a model, see `embdctl models`")->required()->type_name("");
  CLI::Option* const vectors =
      command
          ->add_option("--vectors", options->vectors,
                       "The vectors (N, D) or (D): .npy, .json, .jsonl, .csv, .txt or .safetensors; - for standard "
                       "input, as JSON")
          ->required()
          ->type_name("F");
  command
      ->add_option("--vectors-format", options->vectors_format,
                   "The format of --vectors where its ending does not tell: npy, json …")
      ->type_name("FORMAT")
      ->needs(vectors);
  CLI::Option* const top_k =
      command->add_option("-k,--top-k", options->top_k, "How many ids a vector; without it 10")->type_name("K");
  command->add_option("--candidates", options->candidates, "Score these ids in place of the best: a list, or @FILE")
      ->type_name("IDS")
      ->excludes(top_k);
  AddScoreOptions(*command, *options);
  command->footer(
      "Examples: embdctl project demo-learned --vectors hidden.npy -k 5\n"
      "          embdctl project demo-learned --vectors hidden.npy --candidates \"3 17\" --log-probabilities");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunProject(*options, session); };
  });
}

}  // namespace embd::cli
