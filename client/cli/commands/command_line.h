#ifndef EMBD_CLIENT_CLI_COMMANDS_COMMAND_LINE_H_
#define EMBD_CLIENT_CLI_COMMANDS_COMMAND_LINE_H_

#include <string>
#include <vector>

#include "client/cli/commands/session.h"

namespace embd::cli {

/// Runs embdctl with `arguments`, the program's name not among them, and the variables EMBDCTL_… that --help
/// names. Results go to `world.out`, everything else to `world.err`. Returns what to exit with, see
/// ExitCode.
[[nodiscard]] int RunCommandLine(const std::vector<std::string>& arguments, const Surroundings& world);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_COMMAND_LINE_H_
