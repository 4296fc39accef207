#ifndef EMBD_CLIENT_CLI_COMMANDS_EMBED_INPUT_H_
#define EMBD_CLIENT_CLI_COMMANDS_EMBED_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands/session.h"
#include "embd/client/embedding.h"

namespace embd::cli {

/// Where the ids of `embed` come from, as the command line says it: one of ids, ids_file and tokens, or, for positions,
/// a shape without ids.
struct EmbedInput {
  std::optional<std::string> ids;
  std::optional<std::string> ids_file;
  std::string ids_format;  ///< of ids_file; empty: told by its ending
  std::optional<std::string> tokens;
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> sequence_length;

  /// The words of `tokens`, set apart by blanks.
  [[nodiscard]] std::vector<std::string> Words() const;
};

/// Sets ids, batch_size and sequence_length of `request` from everything but tokens, which need the server.
///
/// Errors:
///   INVALID_ARGUMENT  ids that cannot be read; no ids for a part that needs them; a shape beside ids.
[[nodiscard]] absl::Status FillFromArguments(const EmbedInput& input, const Surroundings& world,
                                             client::EmbedRequest& request);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_EMBED_INPUT_H_
