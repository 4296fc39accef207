#include <CLI/CLI.hpp>
#include <algorithm>
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
#include "client/cli/commands/embed_options.h"
#include "client/cli/commands/embedding_view.h"
#include "client/cli/commands/number_list.h"
#include "client/cli/commands/tensor_output.h"
#include "client/cli/files/tensor_file.h"
#include "client/cli/render/table_text.h"

namespace embd::cli {
namespace {

constexpr std::size_t kLargestRows = 10;  // of an output side, in text

struct GradientOptions {
  EmbedInput input;
  std::optional<std::string> gradient_file;
  std::vector<std::string> tables;
  bool output_side = false;
  std::optional<std::string> targets;
  std::optional<std::string> hidden;
  TensorOutput output;
};

absl::Status Wrong(absl::string_view message) { return absl::InvalidArgumentError(message); }

std::vector<client::TableKind> TablesOf(const GradientOptions& options) {
  std::vector<client::TableKind> tables;
  for (const std::string& name : options.tables) {
    tables.push_back(client::TableKindFromName(name).value_or(client::TableKind::kUnspecified));
  }
  return tables;
}

absl::StatusOr<client::InputTensor> ReadFloats(const std::string& path, const Surroundings& world) {
  const absl::StatusOr<FileFormat> format = FormatOf(path, "", FileFormat::kJson);
  if (!format.ok()) return format.status();
  absl::StatusOr<Tensor> tensor = ReadTensor(path, *format, world.in);
  if (!tensor.ok()) return tensor.status();
  return client::InputTensor{
      .data_type = WireTypeOf(tensor->type), .shape = std::move(tensor->shape), .bytes = std::move(tensor->bytes)};
}

absl::Status CheckFlags(const GradientOptions& options) {
  if (options.output.out && options.tables.size() != 1) return Wrong("--out takes one table; name it with --tables");
  const int readers = options.input.InputReaders() + (options.gradient_file == "-" ? 1 : 0) +
                      (options.hidden == "-" ? 1 : 0) + (options.targets == "@-" ? 1 : 0);
  if (readers > 1) return Wrong("standard input can be read for one option only");
  if (!options.output_side) return absl::OkStatus();
  if (!options.targets || !options.hidden) return Wrong("--output-side needs --targets and --hidden");
  return options.output.out ? Wrong("--output-side has norms, but no rows that --out could write") : absl::OkStatus();
}

absl::StatusOr<client::GradientRequest> OutputSideRequest(const GradientOptions& options, const Surroundings& world) {
  client::GradientRequest request = {.model = options.input.model, .tables = TablesOf(options)};
  auto targets = ReadNumberList("--targets", *options.targets, world);
  if (!targets.ok()) return targets.status();
  auto hidden = ReadFloats(*options.hidden, world);
  if (!hidden.ok()) return hidden.status();
  request.output_side = client::OutputSide{.target_ids = *std::move(targets), .hidden = *std::move(hidden)};
  return request;
}

// Without a file of gradients, and without the ids of words.
absl::StatusOr<client::GradientRequest> BatchRequest(const GradientOptions& options, const Surroundings& world) {
  auto batch = ReadRequest(options.input, world);
  if (!batch.ok()) return batch.status();
  client::GradientRequest request = {.model = std::move(batch->model),
                                     .ids = std::move(batch->ids),
                                     .batch_size = batch->batch_size,
                                     .sequence_length = batch->sequence_length,
                                     .tables = TablesOf(options),
                                     .part = batch->part,
                                     .position_offsets = std::move(batch->position_offsets),
                                     .position_ids = std::move(batch->position_ids),
                                     .token_type_ids = std::move(batch->token_type_ids),
                                     .row_lengths = std::move(batch->row_lengths),
                                     .attention_mask = std::move(batch->attention_mask)};
  if (!options.gradient_file) return request;
  auto gradient = ReadFloats(*options.gradient_file, world);
  if (!gradient.ok()) return gradient.status();
  const bool one_row = gradient->shape.size() == 2 && request.row_lengths.empty();
  if (one_row) gradient->shape.insert(gradient->shape.begin(), 1);
  request.output_gradient = *std::move(gradient);
  return request;
}

absl::StatusOr<client::GradientRequest> RequestOf(const GradientOptions& options, const Surroundings& world) {
  if (absl::Status status = CheckFlags(options); !status.ok()) return status;
  return options.output_side ? OutputSideRequest(options, world) : BatchRequest(options, world);
}

// The loss is the sum of all outputs.
absl::StatusOr<client::InputTensor> Ones(const client::GradientRequest& request, const client::Client& client) {
  const auto model = client.DescribeModel({.model = request.model});
  if (!model.ok()) return model.status();
  std::vector<std::int64_t> shape = {request.batch_size, request.sequence_length, model->embedding_dim};
  if (!request.row_lengths.empty()) {
    std::int64_t cells = 0;
    for (const std::int64_t length : request.row_lengths) cells += std::max<std::int64_t>(length, 0);
    shape = {cells, model->embedding_dim};
  }
  const std::optional<std::int64_t> count = ElementCount(shape);
  constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // more than any request may have
  if (!count || *count > kMostElements) {
    return Wrong(
        absl::StrCat("a gradient of ones for so large a batch would have more than ", kMostElements, " elements"));
  }
  const std::vector<float> ones(static_cast<std::size_t>(*count), 1.0f);
  return client::InputTensor::FromFloats(ones, std::move(shape));
}

absl::StatusOr<client::Gradients> Ask(const GradientOptions& options, client::GradientRequest& request,
                                      const client::Client& client) {
  if (!options.output_side && options.input.tokens) {
    auto found = client.LookUpTokens({.model = options.input.model, .tokens = options.input.Words()});
    if (!found.ok()) return found.status();
    request.ids = std::move(found->ids);
  }
  if (!options.output_side && !request.output_gradient) {
    auto ones = Ones(request, client);
    if (!ones.ok()) return ones.status();
    request.output_gradient = *std::move(ones);
  }
  return client.Gradient(request);
}

nlohmann::ordered_json ToJson(const client::Gradients& gradients) {
  nlohmann::ordered_json tables = nlohmann::ordered_json::array();
  for (const client::TableGradient& table : gradients.tables) {
    tables.push_back({{"table", std::string(TableKindName(table.table))},
                      {"trainable", table.trainable},
                      {"table_rows", table.table_rows},
                      {"touched_rows", table.touched_rows},
                      {"row_ids", table.row_ids},
                      {"counts", table.counts},
                      {"row_norms", table.row_norms}});
  }
  nlohmann::ordered_json facts = {{"model", gradients.model}, {"model_version", gradients.model_version}};
  if (gradients.loss) facts["loss"] = *gradients.loss;
  facts["tables"] = std::move(tables);
  return facts;
}

std::string NormText(double norm) { return absl::StrFormat("%.6g", norm); }

// The rows of an output side with the largest norms.
std::string LargestRows(const client::TableGradient& table) {
  std::vector<std::size_t> rows(table.row_norms.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return table.row_norms[a] > table.row_norms[b]; });
  rows.resize(std::min(rows.size(), kLargestRows));
  std::vector<std::vector<std::string>> lines;
  for (const std::size_t row : rows) lines.push_back({absl::StrCat(row), NormText(table.row_norms[row])});
  return TableText({{"row", kRight}, {"norm", kRight}}, lines);
}

std::string TouchedRows(const client::TableGradient& table) {
  std::vector<std::vector<std::string>> lines;
  for (std::size_t i = 0; i < table.row_ids.size(); ++i) {
    lines.push_back({absl::StrCat(table.row_ids[i]), absl::StrCat(table.counts[i]), NormText(table.row_norms[i])});
  }
  return lines.empty() ? "" : TableText({{"row", kRight}, {"cells", kRight}, {"norm", kRight}}, lines);
}

std::string ToText(const client::Gradients& gradients) {
  std::string text;
  if (gradients.loss) absl::StrAppend(&text, "loss ", absl::StrFormat("%.6g", *gradients.loss), "\n");
  for (const client::TableGradient& table : gradients.tables) {
    absl::StrAppend(&text, TableKindName(table.table), ": ");
    if (!table.trainable) {
      absl::StrAppend(&text, "computed, learns nothing\n");
      continue;
    }
    absl::StrAppend(&text, table.touched_rows, " of ", table.table_rows, " rows have a gradient\n",
                    gradients.loss ? LargestRows(table) : TouchedRows(table));
  }
  return text;
}

Outcome RunGradient(const GradientOptions& options, const Session& session) {
  auto request = RequestOf(options, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  const auto format = CheckOutput(options.output, DataType::kFloat32, session.json);
  if (!format.ok()) return WrongUsage(format.status());
  const auto gradients = Ask(options, *request, session.client);
  if (!gradients.ok()) return Refused(gradients.status());
  if (options.output.out && !gradients->tables.empty()) {
    const client::OutputTensor& rows = gradients->tables[0].rows;
    if (rows.shape.empty()) return WrongUsage(Wrong("--out: a computed table has no gradient"));
    return PutTensor({.type = DataType::kFloat32,
                      .shape = rows.shape,
                      .bytes = std::as_bytes(std::span(rows.data.data(), rows.data.size()))},
                     "gradient", ToJson(*gradients), options.output, *format, session);
  }
  if (session.json) {
    session.PrintJson(ToJson(*gradients));
  } else {
    session.world.out << ToText(*gradients);
  }
  return {};
}

void AddGradientOptions(CLI::App& command, GradientOptions& options) {
  CLI::Option* const file =
      command
          .add_option(
              "--gradient-file", options.gradient_file,
              "dLoss/dOutput as float32: (B, T, D), (T, D) for one row, (N, D) for ragged rows; without it ones")
          ->type_name("F");
  command
      .add_option("--tables", options.tables, "Which tables: token, position, token_type; without it all that are read")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(CLI::IsMember({"token", "position", "token_type"}));
  CLI::Option* const side =
      command
          .add_flag("--output-side", options.output_side,
                    "Through the tied output projection: the gradient of a cross entropy, which touches every row")
          ->excludes(file);
  for (const char* const of_a_batch :
       {"--ids", "--ids-file", "--tokens", "--batch-size", "--sequence-length", "--ragged", "--lengths", "--part",
        "--offset", "--offsets", "--position-ids", "--type-ids", "--mask"}) {
    side->excludes(command.get_option(of_a_batch));
  }
  command.add_option("--targets", options.targets, "The ids that --output-side should have found")
      ->type_name("IDS")
      ->needs(side);
  command.add_option("--hidden", options.hidden, "A file of the vectors that --output-side saw: (N, D) float32")
      ->type_name("F")
      ->needs(side);
}

}  // namespace

void AddGradientCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<GradientOptions>();
  CLI::App* const command = app.add_subcommand("gradient", "Which rows of the tables a batch gives a gradient");
  AddEmbedOptions(*command, options->input);
  for (const char* const unused : {"--inputs-embeds", "--padding-side"}) {
    command->remove_option(command->get_option(unused));
  }
  AddGradientOptions(*command, *options);
  AddOutputOptions(*command, options->output);
  command->footer(
      "Examples: embdctl gradient demo-learned --ids \"1 2; 2 3\"\n"
      "          embdctl gradient demo-learned --ids \"1 2 3\" --gradient-file g.npy --tables token --out rows.npy\n"
      "          embdctl gradient demo-learned --output-side --targets \"1 2\" --hidden h.npy");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunGradient(*options, session); };
  });
}

}  // namespace embd::cli
