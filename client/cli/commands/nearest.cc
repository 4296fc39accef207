#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/nearest_report.h"
#include "client/cli/commands/number_range.h"
#include "client/cli/commands/vectors_file.h"

namespace embd::cli {
namespace {

struct NearestOptions {
  std::string model;
  std::vector<std::int64_t> ids;
  std::vector<std::string> tokens;
  std::string vector_file;
  std::string vector_format;
  std::string metric = "cosine";
  std::string table = "token";
  std::int32_t top_k = 10;
  bool include_queries = false;
};

Outcome RunNearest(const NearestOptions& options, const Session& session) {
  client::NearestTokensRequest request = {
      .model = options.model,
      .ids = options.ids,
      .tokens = options.tokens,
      .top_k = options.top_k,
      .metric = client::MetricFromName(options.metric).value_or(client::Metric::kCosine),
      .table = client::TableKindFromName(options.table).value_or(client::TableKind::kToken),
      .include_queries = options.include_queries};
  if (!options.vector_file.empty()) {
    auto vectors = ReadVectorsFile(options.vector_file, options.vector_format, session.world);
    if (!vectors.ok()) return WrongUsage(vectors.status());
    request.vectors = *std::move(vectors);
  }
  std::vector<std::string> queries = options.tokens;
  for (const std::int64_t id : options.ids) queries.push_back(absl::StrCat(id));
  return PrintNearest(std::move(request), queries, session);
}

struct AnalogyOptions {
  std::string model;
  std::vector<std::string> terms;
  std::string metric = "cosine";
  std::int32_t top_k = 10;
};

// Words with signs between them. Every second term is a sign, so that a word may be "+" or "-", too.
absl::StatusOr<client::Analogy> ParseAnalogy(const std::vector<std::string>& terms) {
  client::Analogy analogy;
  std::string sign = "+";
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (i % 2 == 0) {
      (sign == "+" ? analogy.plus_tokens : analogy.minus_tokens).push_back(terms[i]);
    } else if (sign = terms[i]; sign != "+" && sign != "-") {
      return absl::InvalidArgumentError(absl::StrCat("between words stands + or -, not \"", sign, "\""));
    }
  }
  if (terms.size() % 2 == 0) return absl::InvalidArgumentError("no word after the last + or -");
  return analogy;
}

Outcome RunAnalogy(const AnalogyOptions& options, const Session& session) {
  auto analogy = ParseAnalogy(options.terms);
  if (!analogy.ok()) return WrongUsage(analogy.status());
  return PrintNearest({.model = options.model,
                       .analogies = {*std::move(analogy)},
                       .top_k = options.top_k,
                       .metric = client::MetricFromName(options.metric).value_or(client::Metric::kCosine),
                       .table = client::TableKind::kToken},
                      {absl::StrJoin(options.terms, " ")}, session);
}

void AddModelAndMeasure(CLI::App& command, std::string& model, std::int32_t& top_k, std::string& metric) {
  command.add_option("MODEL", model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command.add_option("-k", top_k, "How many rows: 1 to 1024")
      ->type_name("K")
      ->check(WholeNumberFrom(1, 1024))
      ->capture_default_str();
  command.add_option("--metric", metric, "How close is measured: cosine, dot or l2")
      ->type_name("METRIC")
      ->check(CLI::IsMember({"cosine", "dot", "l2"}))
      ->capture_default_str();
}

}  // namespace

void AddNearestCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<NearestOptions>();
  CLI::App* const command = app.add_subcommand("nearest", "The rows of a table that are nearest to a row or vector");
  AddModelAndMeasure(*command, options->model, options->top_k, options->metric);
  CLI::Option_group* const queries = command->add_option_group("queries");
  queries->add_option("--id", options->ids, "A row of the table; may be given several times")
      ->type_name("N")
      ->allow_extra_args(false);
  queries->add_option("--token", options->tokens, "A word of the vocabulary; may be given several times")
      ->type_name("W")
      ->allow_extra_args(false);
  queries
      ->add_option("--vector-file", options->vector_file,
                   "A vector (D) or several (N, D): .npy, .json, .jsonl, .csv, .txt or .safetensors; - for standard "
                   "input, as JSON")
      ->type_name("F");
  queries->require_option(1);
  command
      ->add_option("--vector-format", options->vector_format,
                   "The format of --vector-file where its ending does not tell: npy, json …")
      ->type_name("FORMAT");
  command->add_option("--table", options->table, "Which table: token, position or token_type")
      ->type_name("TABLE")
      ->check(CLI::IsMember({"token", "position", "token_type"}))
      ->capture_default_str();
  command->add_flag("--include-queries", options->include_queries, "List the rows that were asked for, too");
  command->footer(
      "Examples: embdctl nearest glove --token king -k 5\n"
      "          embdctl nearest demo-gpt2 --table position --id 0 --metric l2\n"
      "          echo '[0.5, -1]' | embdctl nearest tiny --vector-file -");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunNearest(*options, session); };
  });
}

void AddAnalogyCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<AnalogyOptions>();
  CLI::App* const command = app.add_subcommand("analogy", "The rows that are nearest to a sum of words");
  AddModelAndMeasure(*command, options->model, options->top_k, options->metric);
  command->add_option("TERMS", options->terms, "Words with + or - between them, set apart by blanks")
      ->required()
      ->type_name("");
  command->footer("Example: embdctl analogy glove king - man + woman");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunAnalogy(*options, session); };
  });
}

}  // namespace embd::cli
