#ifndef EMBD_CLIENT_CLI_COMMANDS_NUMBER_RANGE_H_
#define EMBD_CLIENT_CLI_COMMANDS_NUMBER_RANGE_H_

#include <CLI/App.hpp>
#include <cstdint>

namespace embd::cli {

/// A check that an option's word is a number in [least, most]; what it says tells the two mistakes apart.
[[nodiscard]] CLI::Validator SecondsFrom(double least, double most);
[[nodiscard]] CLI::Validator WholeNumberFrom(std::int64_t least, std::int64_t most);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_NUMBER_RANGE_H_
