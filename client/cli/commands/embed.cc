#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/embed_options.h"
#include "client/cli/commands/embedding_view.h"
#include "client/cli/commands/tensor_output.h"

namespace embd::cli {
namespace {

struct EmbedOptions {
  EmbedInput input;
  TensorOutput output;
  bool unique = false;
  std::string if_checksum;
};

// Everything that --output json says besides the elements.
nlohmann::ordered_json Facts(const client::EmbedInfo& info, const EmbedOptions& options,
                             const client::EmbedRequest& request) {
  nlohmann::ordered_json facts = {{"model", info.model},
                                  {"model_version", info.model_version},
                                  {"generation", info.generation},
                                  {"checksum", info.checksum},
                                  {"data_type", std::string(DataTypeName(info.data_type))},
                                  {"shape", info.shape}};
  if (options.input.tokens) {
    facts["tokens"] = options.input.Words();
    facts["ids"] = request.ids;
  }
  if (!info.row_lengths.empty()) facts["row_lengths"] = info.row_lengths;
  if (options.unique) {
    facts["unique_ids"] = info.unique_ids;
    facts["inverse"] = info.inverse;
  }
  return facts;
}

Outcome RunEmbed(const EmbedOptions& options, const Session& session) {
  absl::StatusOr<client::EmbedRequest> request = ReadRequest(options.input, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  request->unique = options.unique;
  request->if_checksum = options.if_checksum;
  const absl::StatusOr<DataType> element_type = ElementTypeOf(request->output_type);
  if (!element_type.ok()) return WrongUsage(element_type.status());
  const auto format = CheckOutput(options.output, *element_type, session.json);
  if (!format.ok()) return WrongUsage(format.status());
  const absl::StatusOr<client::Embedding> embedding = Embed(options.input, session.client, *request);
  if (!embedding.ok()) return Refused(embedding.status());
  const absl::StatusOr<TensorView> view = ViewOf(*embedding);
  if (!view.ok()) return Refused(view.status());
  for (const std::string& warning : embedding->info().warnings) session.Note(absl::StrCat("warning: ", warning));
  return PutTensor(*view, "embeddings", Facts(embedding->info(), options, *request), options.output, *format, session);
}

}  // namespace

void AddEmbedCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<EmbedOptions>();
  CLI::App* const command = app.add_subcommand("embed", "The embeddings of a batch of ids");
  AddEmbedOptions(*command, options->input);
  AddDtypeOption(*command, options->input)->capture_default_str();
  command
      ->add_option("--chunks", options->input.chunks,
                   "Whether the tensor comes in blocks of rows (EmbedChunks): always, never, or auto for large ones")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  AddOutputOptions(*command, options->output);
  command->add_flag("--unique", options->unique,
                    "Rows of the distinct ids only, for --part token; JSON tells these and the inverse");
  command
      ->add_option("--if-checksum", options->if_checksum,
                   "Refuse if the model's tables have another checksum, see `embdctl describe`")
      ->type_name("SHA256");
  command->footer(
      "JSON spells numbers that are not finite as NaN, Infinity and -Infinity, as Python's json module does.\n"
      "Examples: embdctl embed demo-learned --ids \"1 2 3; 4 5 6\"\n"
      "          embdctl embed demo-learned --ids-file ids.npy --dtype float16 --out vectors.npy\n"
      "          embdctl embed demo-learned --ids \"1 2 3;; 4 5\" --ragged packed\n"
      "          embdctl embed demo-learned --ids \"0 0 7; 1 2 3\" --mask \"0 0 1; 1 1 1\"\n"
      "          embdctl embed demo-learned --ids \"7 3 7 7\" --part token --unique --output json\n"
      "          embdctl embed demo-sinusoidal --part position --sequence-length 8\n"
      "          echo '[[1, 2, 3]]' | embdctl embed demo-rotary --ids-file - --output json");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunEmbed(*options, session); };
  });
}

}  // namespace embd::cli
