#ifndef EMBD_CLIENT_CLI_COMMANDS_ROTARY_FLAGS_H_
#define EMBD_CLIENT_CLI_COMMANDS_ROTARY_FLAGS_H_

#include <CLI/App.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/client/rotary.h"

namespace embd::cli {

/// What the commands about rotary encodings have in common: whose, and which, parameters.
struct RotaryFlags {
  std::string model;  ///< empty: none
  std::optional<std::int64_t> head_dim;
  std::optional<std::int64_t> rotary_dim;
  std::optional<double> theta;
  std::optional<std::string> pairing;
  std::optional<std::string> scaling;
  std::string layer_type;
  std::optional<std::int64_t> scaling_length;
};

/// Adds MODEL and the options to a command.
void AddRotaryFlags(CLI::App& command, RotaryFlags& flags);

/// The parameters of the flags; nothing where none is given and a model is named.
///
/// Errors:
///   INVALID_ARGUMENT  as ParseRotaryScaling.
[[nodiscard]] absl::StatusOr<std::optional<client::RotaryParameters>> ParametersOf(const RotaryFlags& flags);

/// Reads a scaling: a JSON object as configuration files of models have it, or KEY=VALUE pairs with commas between
/// ("type=yarn,factor=4"). `rope_type` stands for `type`.
///
/// Errors:
///   INVALID_ARGUMENT  the text is neither, a key is unknown, or a value has the wrong type; says which.
[[nodiscard]] absl::StatusOr<client::RotaryScaling> ParseRotaryScaling(absl::string_view text);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_ROTARY_FLAGS_H_
