#ifndef EMBD_CLIENT_CLI_COMMANDS_POSITION_REPORT_H_
#define EMBD_CLIENT_CLI_COMMANDS_POSITION_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "embd/client/positions.h"

// What `wavelengths`, `shift` and `compare` say in the same way.
namespace embd::cli {

/// A number of positions or radians: eight digits, "infinity" where a band does not turn.
[[nodiscard]] std::string WavelengthText(double value);

/// "11 of 32 within 128 positions", or "32 of 32".
[[nodiscard]] std::string FullTurnsText(const client::PositionWavelengths& bands);

/// "rotation of each band" or "least squares".
[[nodiscard]] std::string MapText(const client::ShiftProperty& shift);

[[nodiscard]] nlohmann::ordered_json ToJson(const client::PositionWavelengths& bands);
[[nodiscard]] nlohmann::ordered_json ToJson(const client::ShiftProperty& shift);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_POSITION_REPORT_H_
