#include "client/cli/commands/embed_options.h"

#include <CLI/CLI.hpp>

namespace embd::cli {
namespace {

void AddVectors(CLI::App& command, EmbedInput& input) {
  command
      .add_option("--inputs-embeds", input.inputs_embeds,
                  "A file of vectors in place of token rows: (B, T, D), (T, D) for one row, (N, D) with --lengths")
      ->type_name("F");
  command.add_option("--batch-size", input.batch_size, "Rows of --part position without ids; 1 if not said")
      ->type_name("B");
  command
      .add_option(
          "--sequence-length", input.sequence_length,
          "Columns of --part position without ids, or of padded ragged rows where they are more than the longest")
      ->type_name("T");
}

void AddRaggedRows(CLI::App& command, EmbedInput& input) {
  command
      .add_option("--ragged", input.ragged,
                  "Rows of different lengths, such as \"1 2 3;; 4 5\", in a padded or a packed reply")
      ->type_name("LAYOUT")
      ->check(CLI::IsMember({"padded", "packed"}));
  command.add_option("--lengths", input.lengths, "Lengths of ragged rows: the ids are one row after the other")
      ->type_name("LIST");
  command.add_option("--padding-side", input.padding_side, "Where padded ragged rows are padded: left or right")
      ->type_name("SIDE")
      ->check(CLI::IsMember({"left", "right"}));
}

}  // namespace

void AddIdOptions(CLI::App& command, EmbedInput& input) {
  CLI::Option* const ids =
      command
          .add_option("--ids", input.ids,
                      "Ids; rows end at ';', ids stand between blanks or commas. As other lists also @FILE")
          ->type_name("IDS");
  CLI::Option* const file =
      command
          .add_option("--ids-file", input.ids_file,
                      "A file of ids: .npy, .json, .jsonl, .csv, .txt or .safetensors; - for standard input, as JSON")
          ->type_name("F");
  command
      .add_option("--ids-format", input.ids_format,
                  "The format of --ids-file where its ending does not tell: json, txt …")
      ->type_name("FORMAT")
      ->needs(file);
  CLI::Option* const tokens =
      command.add_option("--tokens", input.tokens, "Words of the model's vocabulary, blanks between, as one row")
          ->type_name("WORDS");
  ids->excludes(file)->excludes(tokens);
  file->excludes(tokens);
}

void AddPositionAndTypeOptions(CLI::App& command, EmbedInput& input) {
  CLI::Option* const offset =
      command.add_option("--offset", input.offset, "Position of the first column")->type_name("N");
  command.add_option("--offsets", input.offsets, "Position of the first column, for each row")
      ->type_name("LIST")
      ->excludes(offset);
  command.add_option("--position-ids", input.position_ids, "Positions: one row for all, or a row each")
      ->type_name("LIST");
  command.add_option("--type-ids", input.type_ids, "Token types, one an id")->type_name("LIST");
  command.add_option("--mask", input.mask, "Attention mask, 0 or 1 an id: numbers left-padded rows")->type_name("LIST");
}

void AddEmbedOptions(CLI::App& command, EmbedInput& input) {
  command.add_option("MODEL", input.model, "Name of a model, see `embdctl models`")->required()->type_name("");
  AddIdOptions(command, input);
  AddVectors(command, input);
  AddRaggedRows(command, input);
  command.add_option("--part", input.part, "What is returned: composed, token or position")
      ->type_name("PART")
      ->check(CLI::IsMember({"composed", "token", "position"}))
      ->capture_default_str();
  AddPositionAndTypeOptions(command, input);
}

CLI::Option* AddDtypeOption(CLI::App& command, EmbedInput& input) {
  return command.add_option("--dtype", input.dtype, "Type of the elements: float32, float16 or bfloat16")
      ->type_name("TYPE")
      ->check(CLI::IsMember({"float32", "float16", "bfloat16"}));
}

}  // namespace embd::cli
