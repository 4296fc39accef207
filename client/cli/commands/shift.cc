#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/position_report.h"
#include "client/cli/commands/waiting.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

struct ShiftOptions {
  std::string model;
  std::optional<std::int64_t> dim;
  std::optional<double> base;
  std::string layout = "interleaved";
  std::int64_t offset = 0;
  std::int64_t rows = 0;
};

std::string ToText(const client::ShiftProperty& shift, const std::string& subject) {
  std::string text = absl::StrCat(subject, ": how well one linear map takes position p to p + ", shift.offset, ", of ",
                                  shift.rows, " positions\n");
  absl::StrAppend(&text,
                  FieldsText({{"map", MapText(shift)},
                              {"largest residual", absl::StrFormat("%.6g at position %d, column %d", shift.max_residual,
                                                                   shift.worst_position, shift.worst_column)},
                              {"rms residual", absl::StrFormat("%.6g", shift.rms_residual)}}));
  return text;
}

Outcome RunShift(const ShiftOptions& options, const Session& session) {
  client::ShiftPropertyRequest request = {
      .model = options.model, .max_context_length = options.rows, .offset = options.offset};
  if (options.dim) {
    request.sinusoidal = client::SinusoidalFormula{
        .embedding_dim = *options.dim, .base = options.base, .tensor2tensor = options.layout == "tensor2tensor"};
  }
  if (options.model.empty() && !options.dim)
    return WrongUsage(absl::InvalidArgumentError("name a model, or give --dim"));
  const absl::StatusOr<client::ShiftProperty> shift =
      WhileWaiting(session, [&] { return session.client.ShiftProperty(request); });
  if (!shift.ok()) return Refused(shift.status());
  if (session.json) {
    session.PrintJson(ToJson(*shift));
  } else {
    session.world.out << ToText(*shift, options.dim ? absl::StrCat("D ", *options.dim) : shift->model);
  }
  return {};
}

}  // namespace

void AddShiftCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<ShiftOptions>();
  CLI::App* const command =
      app.add_subcommand("shift", "Whether one linear map takes every position to the one K further on");
  CLI::Option* const model =
      command->add_option("MODEL", options->model, "Name of a model with a position table")->type_name("");
  CLI::Option* const dim =
      command->add_option("--dim", options->dim, "Width of a sinusoidal formula in place of a model")
          ->type_name("D")
          ->excludes(model);
  command->add_option("--base", options->base, "Base of the formula; 10000 if not said")->type_name("X")->needs(dim);
  command->add_option("--layout", options->layout, "Layout of the formula: interleaved, half or tensor2tensor")
      ->type_name("LAYOUT")
      ->check(CLI::IsMember({"interleaved", "half", "tensor2tensor"}))
      ->needs(dim)
      ->capture_default_str();
  command->add_option("--offset", options->offset, "K; without it 1")->type_name("K");
  command
      ->add_option("--positions", options->rows,
                   "How many positions are looked at; without it the model's, at most 512, or 128 of a formula")
      ->type_name("N");
  command->footer(
      "Sinusoidal positions are turned by a fixed angle in each band, and only rounding is left. For others the best\n"
      "map by least squares is taken; it always fits where positions less K are no more than the width.\n"
      "Examples: embdctl shift demo-learned\n"
      "          embdctl shift --dim 64 --offset 5");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunShift(*options, session); };
  });
}

}  // namespace embd::cli
