#ifndef EMBD_CLIENT_CLI_COMMANDS_STATS_TEXT_H_
#define EMBD_CLIENT_CLI_COMMANDS_STATS_TEXT_H_

#include <string>

#include "embd/client/statistics.h"

namespace embd::cli {

/// The statistics for people to read: figures, the histogram of norms, and what is wrong with the table, cell by cell
/// and row by row. With `graphics` bars are drawn and warnings coloured. Ends with a line end.
[[nodiscard]] std::string StatsText(const client::TableStatistics& statistics, bool graphics);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_STATS_TEXT_H_
