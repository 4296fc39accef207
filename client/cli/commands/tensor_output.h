#ifndef EMBD_CLIENT_CLI_COMMANDS_TENSOR_OUTPUT_H_
#define EMBD_CLIENT_CLI_COMMANDS_TENSOR_OUTPUT_H_

#include <CLI/App.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/commands/outcome.h"
#include "client/cli/commands/session.h"
#include "client/cli/files/tensor.h"
#include "client/cli/files/tensor_file.h"

namespace embd::cli {

/// Where a command puts the tensor that it got: --out and --out-format.
struct TensorOutput {
  std::optional<std::string> out;
  std::string out_format;
};

/// Adds the two options to a command.
void AddOutputOptions(CLI::App& command, TensorOutput& output);

/// What the command line can be refused for before anything is asked of the server; the format where there is --out.
///
/// Errors:
///   INVALID_ARGUMENT  an unknown format, or one that does not hold `type`; standard output wanted twice.
[[nodiscard]] absl::StatusOr<std::optional<FileFormat>> CheckOutput(const TensorOutput& output, DataType type,
                                                                    bool json);

/// Prints the tensor, or writes it, under `name`; with --output json `facts` go along.
Outcome PutTensor(TensorView tensor, const std::string& name, nlohmann::ordered_json facts, const TensorOutput& output,
                  std::optional<FileFormat> format, const Session& session);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_TENSOR_OUTPUT_H_
