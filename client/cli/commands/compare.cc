#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/comparison.h"
#include "client/cli/commands/number_range.h"

namespace embd::cli {
namespace {

constexpr std::int64_t kMaxIds = 1 << 20;

Outcome RunCompare(const ComparisonOptions& options, const Session& session) {
  if (options.batch_size * options.sequence_length.value_or(1) > kMaxIds) {
    return WrongUsage(
        absl::InvalidArgumentError(absl::StrCat("--batch times --tokens is more than ", kMaxIds, " ids")));
  }
  const absl::StatusOr<Comparison> comparison = Compare(session.client, options);
  if (!comparison.ok()) return Refused(comparison.status());
  if (session.json) {
    session.PrintJson(ComparisonJson(*comparison));
  } else {
    session.world.out << ComparisonText(*comparison);
  }
  return {};
}

}  // namespace

void AddCompareCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<ComparisonOptions>();
  CLI::App* const command = app.add_subcommand(
      "compare", "Two models side by side: shapes, parameters, positions, length limits, statistics");
  command->add_option("MODEL_A", options->models[0], "Name of a model, see `embdctl models`")
      ->required()
      ->type_name("");
  command->add_option("MODEL_B", options->models[1], "Name of another")->required()->type_name("");
  const CLI::Validator size = WholeNumberFrom(1, kMaxIds);
  command->add_option("--batch", options->batch_size, "Rows of ids")
      ->type_name("B")
      ->check(size)
      ->capture_default_str();
  command
      ->add_option("--tokens", options->sequence_length,
                   absl::StrCat("Ids a row; without it ", kComparedTokens, ", or fewer for a short position table"))
      ->type_name("T")
      ->check(size);
  command->add_option("--seed", options->seed, "What the ids are drawn from")->type_name("N")->capture_default_str();
  command->add_option("--max-offset", options->max_offset, "The largest distance of positions")
      ->type_name("K")
      ->check(size)
      ->capture_default_str();
  command->footer("Example: embdctl compare demo-learned demo-sinusoidal");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunCompare(*options, session); };
  });
}

}  // namespace embd::cli
