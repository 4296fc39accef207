#ifndef EMBD_CLIENT_CLI_COMMANDS_NEAREST_REPORT_H_
#define EMBD_CLIENT_CLI_COMMANDS_NEAREST_REPORT_H_

#include <string>
#include <vector>

#include "client/cli/commands/session.h"
#include "embd/client/nearest.h"

namespace embd::cli {

/// Asks for the nearest rows, with their words where the model has any, and prints them under what `queries` call each
/// query; where that is empty, under its number.
Outcome PrintNearest(client::NearestTokensRequest request, const std::vector<std::string>& queries,
                     const Session& session);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_NEAREST_REPORT_H_
