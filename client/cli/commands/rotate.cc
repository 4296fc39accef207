#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/embedding_view.h"
#include "client/cli/commands/number_list.h"
#include "client/cli/commands/rotary_flags.h"
#include "client/cli/commands/tensor_output.h"
#include "client/cli/commands/vectors_file.h"
#include "client/cli/files/row_text.h"

namespace embd::cli {
namespace {

struct RotateOptions {
  RotaryFlags rotary;
  std::string in;
  std::string in_format;
  std::optional<std::int64_t> offset;
  std::optional<std::string> offsets;
  std::optional<std::string> position_ids;
  std::optional<std::int64_t> sequence_axis;
  bool inverse = false;
  bool split = false;
  std::string dtype = "float32";
  TensorOutput output;
};

// Everything but the vectors.
absl::StatusOr<client::RotateRequest> RequestOf(const RotateOptions& options, const Surroundings& world) {
  client::RotateRequest request = {
      .model = options.rotary.model,
      .layer_type = options.rotary.layer_type,
      .output_layout = options.split ? client::RotaryOutput::kSplit : client::RotaryOutput::kSame,
      .sequence_axis = options.sequence_axis,
      .scaling_length = options.rotary.scaling_length,
      .inverse = options.inverse,
      .output_type = client::DataTypeFromName(options.dtype).value_or(client::DataType::kFloat32)};
  auto parameters = ParametersOf(options.rotary);
  if (!parameters.ok()) return parameters.status();
  request.parameters = *std::move(parameters);
  if (options.offset) request.position_offsets = {*options.offset};
  if (options.offsets) {
    absl::StatusOr<std::vector<std::int64_t>> offsets = ReadNumberList("--offsets", *options.offsets, world);
    if (!offsets.ok()) return offsets.status();
    request.position_offsets = *std::move(offsets);
  }
  if (options.position_ids) {
    const absl::StatusOr<Tensor> ids = ParseRows(*options.position_ids, DataType::kInt64);
    if (!ids.ok()) return absl::InvalidArgumentError(absl::StrCat("--position-ids: ", ids.status().message()));
    for (std::size_t i = 0; i < ids->view().size(); ++i) request.position_ids.push_back(IntegerAt(ids->view(), i));
  }
  return request;
}

Outcome RunRotate(const RotateOptions& options, const Session& session) {
  auto request = RequestOf(options, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  const auto element_type = ElementTypeOf(request->output_type);
  if (!element_type.ok()) return WrongUsage(element_type.status());
  const auto format = CheckOutput(options.output, *element_type, session.json);
  if (!format.ok()) return WrongUsage(format.status());
  const auto vectors = ReadVectorsFile(options.in, options.in_format, session.world);
  if (!vectors.ok()) return WrongUsage(vectors.status());
  request->vectors = vectors->bytes;
  request->vectors_type = vectors->data_type;
  request->shape = vectors->shape;

  const auto rotated = session.client.Rotate(*request);
  if (!rotated.ok()) return Refused(rotated.status());
  const client::RotateInfo& info = rotated->info();
  const auto received_type = ElementTypeOf(info.data_type);
  if (!received_type.ok()) return Refused(received_type.status());
  nlohmann::ordered_json facts = {{"model", info.model},
                                  {"model_version", info.model_version},
                                  {"attention_factor", info.attention_factor},
                                  {"data_type", std::string(DataTypeName(info.data_type))},
                                  {"shape", info.shape}};
  return PutTensor({.type = *received_type, .shape = info.shape, .bytes = rotated->bytes()}, "vectors",
                   std::move(facts), options.output, *format, session);
}

void AddVectorOptions(CLI::App& command, RotateOptions& options) {
  CLI::Option* const in =
      command
          .add_option("--in", options.in,
                      "The vectors: .npy, .json, .jsonl, .csv, .txt or .safetensors (a tensor \"embeddings\"); - for "
                      "standard input, as JSON")
          ->required()
          ->type_name("F");
  command
      .add_option("--in-format", options.in_format, "The format of --in where its ending does not tell: npy, json …")
      ->type_name("FORMAT")
      ->needs(in);
  command
      .add_option("--sequence-axis", options.sequence_axis,
                  "The axis that positions count along; 1 if not said, 0 for vectors of two axes")
      ->type_name("N");
  CLI::Option* const offset =
      command.add_option("--offset", options.offset, "First position of every batch row")->type_name("N");
  CLI::Option* const offsets = command.add_option("--offsets", options.offsets, "First position of each batch row")
                                   ->type_name("LIST")
                                   ->excludes(offset);
  command.add_option("--position-ids", options.position_ids, "Positions: one a column, or rows that end at ';'")
      ->type_name("IDS")
      ->excludes(offset)
      ->excludes(offsets);
  command.add_flag("--inverse", options.inverse, "Turn back");
  command.add_flag("--split", options.split, "First components of all pairs, then all second ones");
  command.add_option("--dtype", options.dtype, "Type of the result: float32, float16 or bfloat16")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"float32", "float16", "bfloat16"}))
      ->capture_default_str();
}

}  // namespace

void AddRotateCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<RotateOptions>();
  CLI::App* const command = app.add_subcommand("rotate", "Turn vectors by a rotary position encoding");
  AddRotaryFlags(*command, options->rotary);
  AddVectorOptions(*command, *options);
  AddOutputOptions(*command, options->output);
  command->footer(
      "Examples: embdctl rotate demo-rotary --in queries.npy --out turned.npy\n"
      "          embdctl rotate --theta 500000 --scaling type=linear,factor=4 --sequence-axis 2 --in q.npy\n"
      "          echo '[[1, 2, 3, 4]]' | embdctl rotate --pairing interleaved --offset 1 --in -");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunRotate(*options, session); };
  });
}

}  // namespace embd::cli
