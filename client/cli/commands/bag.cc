#include <CLI/CLI.hpp>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/embedding_view.h"
#include "client/cli/commands/number_list.h"
#include "client/cli/commands/tensor_output.h"
#include "client/cli/files/number_text.h"

namespace embd::cli {
namespace {

struct BagOptions {
  std::string model;
  std::string ids;
  std::optional<std::string> weights;
  std::string mode = "mean";
  std::string dtype = "float32";
  TensorOutput output;
};

absl::Status Wrong(absl::string_view message) { return absl::InvalidArgumentError(message); }

// Weights stand as the ids do: rows end at ';'. One row serves all ids, whatever their rows.
absl::StatusOr<std::vector<float>> ReadWeights(const std::string& text, const std::vector<std::int64_t>& lengths) {
  std::vector<std::byte> bytes;
  absl::string_view all = absl::StripAsciiWhitespace(text);
  absl::ConsumeSuffix(&all, ";");
  const std::vector<absl::string_view> rows = absl::StrSplit(all, ';');
  if (rows.size() > 1 && rows.size() != lengths.size()) {
    return Wrong(absl::StrCat("--weights: has ", rows.size(), " rows, --ids has ", lengths.size()));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<absl::string_view> words =
        absl::StrSplit(rows[i], absl::ByAnyChar(" ,\t\r\n"), absl::SkipEmpty());
    if (rows.size() > 1 && static_cast<std::int64_t>(words.size()) != lengths[i]) {
      return Wrong(absl::StrCat("--weights: row ", i, " has ", words.size(), words.size() == 1 ? " value" : " values",
                                ", that of --ids has ", lengths[i]));
    }
    for (const absl::string_view word : words) {
      if (absl::Status status = AppendParsed(word, DataType::kFloat32, bytes); !status.ok()) {
        return Wrong(absl::StrCat("--weights: row ", i, ": ", status.message()));
      }
    }
  }
  std::vector<float> weights(bytes.size() / sizeof(float));
  if (!bytes.empty()) std::memcpy(weights.data(), bytes.data(), bytes.size());
  return weights;
}

absl::StatusOr<client::EmbedBagsRequest> RequestOf(const BagOptions& options, const Surroundings& world) {
  absl::StatusOr<UnevenRows> rows = ReadNumberRows("--ids", options.ids, world);
  if (!rows.ok()) return rows.status();
  client::Bag bag = {.model = options.model,
                     .ids = std::move(rows->values),
                     .row_lengths = std::move(rows->lengths),
                     .mode = client::BagModeFromName(options.mode).value_or(client::BagMode::kUnspecified)};
  if (options.weights) {
    absl::StatusOr<std::vector<float>> weights = ReadWeights(*options.weights, bag.row_lengths);
    if (!weights.ok()) return weights.status();
    bag.weights = *std::move(weights);
  }
  return client::EmbedBagsRequest{
      .bags = {std::move(bag)},
      .output_type = client::DataTypeFromName(options.dtype).value_or(client::DataType::kFloat32)};
}

Outcome RunBag(const BagOptions& options, const Session& session) {
  const auto request = RequestOf(options, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  const absl::StatusOr<DataType> wanted = ElementTypeOf(request->output_type);
  if (!wanted.ok()) return WrongUsage(wanted.status());
  const auto format = CheckOutput(options.output, *wanted, session.json);
  if (!format.ok()) return WrongUsage(format.status());
  const absl::StatusOr<client::PooledBags> pooled = session.client.EmbedBags(*request);
  if (!pooled.ok()) return Refused(pooled.status());
  if (pooled->embeddings.size() != 1) return Refused(absl::InternalError("the server sent other than one tensor"));
  const client::OutputTensor& tensor = pooled->embeddings.front();
  const absl::StatusOr<DataType> type = ElementTypeOf(tensor.data_type);
  if (!type.ok()) return Refused(type.status());
  nlohmann::ordered_json facts = {{"model", pooled->models.front()},
                                  {"checksum", pooled->checksums.front()},
                                  {"mode", options.mode},
                                  {"data_type", std::string(DataTypeName(tensor.data_type))},
                                  {"shape", tensor.shape}};
  return PutTensor({.type = *type, .shape = tensor.shape, .bytes = std::as_bytes(std::span(tensor.data))}, "embeddings",
                   std::move(facts), options.output, *format, session);
}

}  // namespace

void AddBagCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<BagOptions>();
  CLI::App* const command = app.add_subcommand("bag", "Bags of ids, each pooled to one vector");
  command->add_option("MODEL", options->model, "Name of a model, see `embdctl models`")->required()->type_name("");
  command
      ->add_option("--ids", options->ids,
                   "Ids; bags end at ';' and may be empty, ids stand between blanks or commas. Also @FILE")
      ->required()
      ->type_name("IDS");
  command->add_option("--mode", options->mode, "How rows are pooled: sum, mean, max or sqrtn")
      ->type_name("MODE")
      ->check(CLI::IsMember({"sum", "mean", "max", "sqrtn"}))
      ->capture_default_str();
  command->add_option("--weights", options->weights, "One weight an id, written as the ids are; without it all 1")
      ->type_name("LIST");
  command->add_option("--dtype", options->dtype, "Type of the elements: float32, float16 or bfloat16")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"float32", "float16", "bfloat16"}))
      ->capture_default_str();
  AddOutputOptions(*command, options->output);
  command->footer(
      "Examples: embdctl bag demo-learned --ids \"1 2 3; 4 5\"\n"
      "          embdctl bag demo-learned --ids \"1 2 3; 4 5\" --mode sum --weights \"1 0.5 0.25; 2 1\" --out "
      "bags.npy");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunBag(*options, session); };
  });
}

}  // namespace embd::cli
