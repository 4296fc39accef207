#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/embed_options.h"
#include "client/cli/commands/embedding_view.h"
#include "client/cli/files/npy.h"
#include "client/cli/files/tensor_file.h"
#include "client/cli/render/array_text.h"

namespace embd::cli {
namespace {

struct EmbedOptions {
  EmbedInput input;
  std::optional<std::string> out;
  std::string out_format;
};

// What the command line can be refused for before anything is computed.
absl::StatusOr<FileFormat> CheckOut(const EmbedOptions& options, client::DataType type, bool json) {
  const absl::StatusOr<FileFormat> format = FormatOf(*options.out, options.out_format, FileFormat::kJson);
  if (!format.ok()) return format.status();
  if (json && *options.out == "-") {
    return absl::InvalidArgumentError("--out - and --output json both want standard output; leave one away");
  }
  const absl::StatusOr<DataType> element_type = ElementTypeOf(type);
  if (!element_type.ok()) return element_type.status();
  if (*format == FileFormat::kNpy) {
    if (absl::Status status = CheckNpyHolds(*element_type); !status.ok()) return status;
  }
  return format;
}

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
  if (options.out) facts["out"] = *options.out;
  return facts;
}

Outcome Print(const client::Embedding& embedding, const EmbedOptions& options, const client::EmbedRequest& request,
              std::optional<FileFormat> format, const Session& session) {
  const absl::StatusOr<TensorView> view = ViewOf(embedding);
  if (!view.ok()) return Refused(view.status());
  for (const std::string& warning : embedding.info().warnings) session.Note(absl::StrCat("warning: ", warning));
  const nlohmann::ordered_json facts = Facts(embedding.info(), options, request);
  std::ostream& out = session.world.out;
  if (!options.out) {
    if (session.json) {
      session.PrintJson(facts, "embeddings", *view);
    } else {
      out << ArrayHeading("embeddings", *view) << '\n' << ArrayText(*view) << '\n';
    }
    return {};
  }
  if (absl::Status status = WriteTensor(*view, "embeddings", *options.out, *format, out); !status.ok()) {
    return WrongUsage(status);
  }
  if (session.json) {
    session.PrintJson(facts);
  } else if (*options.out != "-") {
    out << ArrayHeading("embeddings", *view) << " written to " << *options.out << '\n';
  }
  return {};
}

Outcome RunEmbed(const EmbedOptions& options, const Session& session) {
  absl::StatusOr<client::EmbedRequest> request = ReadRequest(options.input, session.world);
  if (!request.ok()) return WrongUsage(request.status());
  std::optional<FileFormat> format;
  if (options.out) {
    const absl::StatusOr<FileFormat> checked = CheckOut(options, request->output_type, session.json);
    if (!checked.ok()) return WrongUsage(checked.status());
    format = *checked;
  }
  const absl::StatusOr<client::Embedding> embedding = Embed(options.input, session.client, *request);
  if (!embedding.ok()) return Refused(embedding.status());
  return Print(*embedding, options, *request, format, session);
}

void AddResultOptions(CLI::App& command, EmbedOptions& options) {
  AddDtypeOption(command, options.input)->capture_default_str();
  CLI::Option* const out =
      command
          .add_option(
              "--out", options.out,
              "Write the tensor to F: .npy, .json, .jsonl, .csv, .txt or .safetensors; - for standard output, as JSON")
          ->type_name("F");
  command
      .add_option("--out-format", options.out_format, "The format of --out where its ending does not tell: npy, csv …")
      ->type_name("FORMAT")
      ->needs(out);
}

}  // namespace

void AddEmbedCommand(CLI::App& app, Action& action) {
  auto options = std::make_shared<EmbedOptions>();
  CLI::App* const command = app.add_subcommand("embed", "The embeddings of a batch of ids");
  AddEmbedOptions(*command, options->input);
  AddResultOptions(*command, *options);
  command->footer(
      "JSON spells numbers that are not finite as NaN, Infinity and -Infinity, as Python's json module does.\n"
      "Examples: embdctl embed demo-learned --ids \"1 2 3; 4 5 6\"\n"
      "          embdctl embed demo-learned --ids-file ids.npy --dtype float16 --out vectors.npy\n"
      "          embdctl embed demo-learned --ids \"1 2 3;; 4 5\" --ragged packed\n"
      "          embdctl embed demo-learned --ids \"0 0 7; 1 2 3\" --mask \"0 0 1; 1 1 1\"\n"
      "          embdctl embed demo-sinusoidal --part position --sequence-length 8\n"
      "          echo '[[1, 2, 3]]' | embdctl embed demo-rotary --ids-file - --output json");
  command->callback([options, &action] {
    action.ask_server = [options](const Session& session) { return RunEmbed(*options, session); };
  });
}

}  // namespace embd::cli
