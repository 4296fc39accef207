#ifndef EMBD_CLIENT_CLI_COMMANDS_COMMANDS_H_
#define EMBD_CLIENT_CLI_COMMANDS_COMMANDS_H_

#include <CLI/App.hpp>
#include <string>

#include "client/cli/commands/session.h"

// One function a command: it adds the command with its options and help to `app`. When the command line names the
// command, parsing sets `action`. `app` and `action` outlive the parsing.
namespace embd::cli {

void AddHealthCommand(CLI::App& app, Action& action);
void AddInfoCommand(CLI::App& app, Action& action);
void AddModelsCommand(CLI::App& app, Action& action);
void AddDescribeCommand(CLI::App& app, Action& action);
void AddEmbedCommand(CLI::App& app, Action& action);
void AddVerifyCommand(CLI::App& app, Action& action);
void AddRotateCommand(CLI::App& app, Action& action);
void AddRotaryTableCommand(CLI::App& app, Action& action);
void AddSimilarityCommand(CLI::App& app, Action& action);
void AddProjectCommand(CLI::App& app, Action& action);
void AddNearestCommand(CLI::App& app, Action& action);
void AddAnalogyCommand(CLI::App& app, Action& action);
void AddSimilarCommand(CLI::App& app, Action& action);
void AddCompareCommand(CLI::App& app, Action& action);
void AddLoadCommand(CLI::App& app, Action& action);
void AddUnloadCommand(CLI::App& app, Action& action);
void AddReloadCommand(CLI::App& app, Action& action);
void AddRegionsCommand(CLI::App& app, Action& action);
void AddBenchCommand(CLI::App& app, Action& action);

/// Prints the help of the program or of a command.
void AddHelpCommand(CLI::App& app, Action& action);

/// Knows the commands that `app` has when it runs, so that a script never misses one.
void AddCompletionCommand(CLI::App& app, Action& action);

/// The outcome of a name that none of the commands of `app` has; lists them.
Outcome UnknownCommand(const CLI::App& app, const std::string& name);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_COMMANDS_H_
