#ifndef EMBD_CLIENT_CLI_COMMANDS_EMBED_OPTIONS_H_
#define EMBD_CLIENT_CLI_COMMANDS_EMBED_OPTIONS_H_

#include <CLI/App.hpp>

#include "client/cli/commands/embed_input.h"

namespace embd::cli {

/// Adds the model and the options that say what is embedded, all but --dtype. Parsing writes to `input`, which outlives
/// it.
void AddEmbedOptions(CLI::App& command, EmbedInput& input);

/// Adds those that say the ids, and those that say positions, types and mask.
void AddIdOptions(CLI::App& command, EmbedInput& input);
void AddPositionAndTypeOptions(CLI::App& command, EmbedInput& input);

/// Adds --dtype.
CLI::Option* AddDtypeOption(CLI::App& command, EmbedInput& input);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_EMBED_OPTIONS_H_
