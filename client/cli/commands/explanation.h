#ifndef EMBD_CLIENT_CLI_COMMANDS_EXPLANATION_H_
#define EMBD_CLIENT_CLI_COMMANDS_EXPLANATION_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "embd/client/explain.h"

namespace embd::cli {

/// The cell for people to read: what it is, the formula, and a line a dimension; the first eight and the last four
/// unless `all`.
[[nodiscard]] std::string ExplanationText(const client::CellExplanation& cell, bool all);

/// The cell as one JSON object, with all numbers; null is what the model has not.
[[nodiscard]] nlohmann::ordered_json ExplanationJson(const client::CellExplanation& cell);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_EXPLANATION_H_
