#ifndef EMBD_CLIENT_CLI_COMMANDS_DESCRIPTION_H_
#define EMBD_CLIENT_CLI_COMMANDS_DESCRIPTION_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "embd/client/diagnostics.h"

// What `describe` prints.
namespace embd::cli {

/// Every field, under its name; null for what is unset.
[[nodiscard]] nlohmann::ordered_json DescriptionJson(const client::ModelDescription& model);

/// The fields that a model has a value for other than the usual one, then its tables, then what was inferred.
[[nodiscard]] std::string DescriptionText(const client::ModelDescription& model);

/// The fields of a scaling that are set, by the names that Hugging Face gives them.
[[nodiscard]] nlohmann::ordered_json ScalingJson(const client::RotaryScaling& scaling);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_DESCRIPTION_H_
