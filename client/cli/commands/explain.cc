#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/embed_options.h"
#include "client/cli/commands/explanation.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

struct ExplainOptions {
  EmbedInput input;
  std::string cell;
  bool all = false;
};

absl::Status ReadCell(const std::string& text, client::ExplainCellRequest& request) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ',');
  if (parts.size() == 2 && absl::SimpleAtoi(parts[0], &request.batch_index) &&
      absl::SimpleAtoi(parts[1], &request.sequence_index)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("--cell: ", Quoted(text), " is not of the form ROW,COLUMN"));
}

absl::StatusOr<client::ExplainCellRequest> ReadCellRequest(const ExplainOptions& options, const Surroundings& world) {
  if (!options.input.ids && !options.input.ids_file && !options.input.tokens) {
    return absl::InvalidArgumentError("give the ids with --ids, --ids-file or --tokens");
  }
  absl::StatusOr<client::EmbedRequest> batch = ReadRequest(options.input, world);
  if (!batch.ok()) return batch.status();
  client::ExplainCellRequest request = {.model = std::move(batch->model),
                                        .ids = std::move(batch->ids),
                                        .batch_size = batch->batch_size,
                                        .sequence_length = batch->sequence_length,
                                        .position_offsets = std::move(batch->position_offsets),
                                        .position_ids = std::move(batch->position_ids),
                                        .token_type_ids = std::move(batch->token_type_ids),
                                        .row_lengths = std::move(batch->row_lengths),
                                        .attention_mask = std::move(batch->attention_mask)};
  if (absl::Status status = ReadCell(options.cell, request); !status.ok()) return status;
  return request;
}

Outcome RunExplain(const ExplainOptions& options, const Session& session) {
  absl::StatusOr<client::ExplainCellRequest> request = ReadCellRequest(options, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  if (options.input.tokens) {
    auto found = session.client.LookUpTokens({.model = options.input.model, .tokens = options.input.Words()});
    if (!found.ok()) return Refused(found.status());
    request->ids = std::move(found->ids);
  }
  const absl::StatusOr<client::CellExplanation> cell = session.client.ExplainCell(*request);
  if (!cell.ok()) return Refused(cell.status());
  if (session.json) {
    session.PrintJson(ExplanationJson(*cell));
  } else {
    session.world.out << ExplanationText(*cell, options.all);
  }
  return {};
}

}  // namespace

void AddExplainCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* const command =
      app.add_subcommand("explain", "How the embedding of one cell comes about, number by number");
  command->add_option("MODEL", options->input.model, "Name of a model, see `embdctl models`")
      ->required()
      ->type_name("");
  command->add_option("--cell", options->cell, "Row and column of the cell in the batch, from 0")
      ->required()
      ->type_name("B,T");
  AddIdOptions(*command, options->input);
  command->add_flag_callback(
      "--ragged", [options] { options->input.ragged = "padded"; }, "Rows of different lengths, such as \"1 2 3; 4 5\"");
  command
      ->add_option("--lengths", options->input.lengths, "Lengths of ragged rows: the ids are one row after the other")
      ->type_name("LIST");
  AddPositionAndTypeOptions(*command, options->input);
  command->add_flag("--all", options->all, "Show all dimensions, not only the first eight and the last four");
  command->footer(
      "Examples: embdctl explain demo-learned --ids \"1 2; 3 4\" --cell 1,0\n"
      "          embdctl explain demo-sinusoidal --ids 5 --cell 0,0 --all");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunExplain(*options, session); };
  });
}

}  // namespace embd::cli
