#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/waiting.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

struct SimilarityOptions {
  std::string model;
  std::int64_t max_offset = 0;
  std::string table = "position";
};

nlohmann::ordered_json ToJson(const client::NeighbourCurve& curve) {
  return {{"model", curve.model},
          {"model_version", curve.model_version},
          {"table", std::string(TableKindName(curve.table))},
          {"rows", curve.rows},
          {"mean_cosine", curve.mean_cosine},
          {"min_cosine", curve.min_cosine},
          {"max_cosine", curve.max_cosine},
          {"closed_form", curve.closed_form},
          {"zero_rows", curve.zero_rows},
          {"monotone_steps", curve.monotone_steps}};
}

std::string ToText(const client::NeighbourCurve& curve) {
  std::vector<Column> columns = {{"k", kRight}, {"mean", kRight}, {"min", kRight}, {"max", kRight}};
  const bool has_formula = curve.closed_form.size() == curve.mean_cosine.size();
  if (has_formula) columns.push_back({"formula", kRight});

  const auto value = [](const std::vector<double>& list, std::size_t i) {
    return i < list.size() ? absl::StrFormat("%+.4f", list[i]) : std::string("-");
  };
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < curve.mean_cosine.size(); ++i) {
    rows.push_back(
        {absl::StrCat(i + 1), value(curve.mean_cosine, i), value(curve.min_cosine, i), value(curve.max_cosine, i)});
    if (has_formula) rows.back().push_back(value(curve.closed_form, i));
  }
  std::string text = absl::StrCat("cosine of row p and row p + k of the ", TableKindName(curve.table), " table, ",
                                  curve.rows, " rows\n", TableText(columns, rows));
  absl::StrAppend(&text, "monotone steps: ", curve.monotone_steps, "/",
                  std::max<std::size_t>(curve.mean_cosine.size(), 1) - 1, "\n");
  if (curve.zero_rows > 0) absl::StrAppend(&text, "zero rows: ", curve.zero_rows, "\n");
  return text;
}

Outcome RunSimilarity(const SimilarityOptions& options, const Session& session) {
  const absl::StatusOr<client::NeighbourCurve> curve = WhileWaiting(session, [&] {
    return session.client.NeighbourSimilarity(
        {.model = options.model,
         .table = client::TableKindFromName(options.table).value_or(client::TableKind::kUnspecified),
         .max_offset = options.max_offset});
  });
  if (!curve.ok()) return Refused(curve.status());
  if (session.json) {
    session.PrintJson(ToJson(*curve));
  } else {
    session.world.out << ToText(*curve);
  }
  return {};
}

}  // namespace

void AddSimilarityCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<SimilarityOptions>();
  CLI::App* const command = app.add_subcommand("similarity", "How alike rows of a table are that lie k apart");
  command->add_option("MODEL", options->model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command->add_option("--max-offset", options->max_offset, "The largest k; without it 8, or fewer for a short table")
      ->type_name("K");
  command->add_option("--table", options->table, "Which table: token or position")
      ->type_name("TABLE")
      ->check(CLI::IsMember({"token", "position"}))
      ->capture_default_str();
  command->footer("Example: embdctl similarity demo-sinusoidal --max-offset 6");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunSimilarity(*options, session); };
  });
}

}  // namespace embd::cli
