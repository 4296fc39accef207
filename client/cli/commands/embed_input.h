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

/// What `embed` and `verify` ask for, as the command line says it. Lists of numbers are text, or @FILE.
struct EmbedInput {
  std::string model;
  std::optional<std::string> ids;
  std::optional<std::string> ids_file;
  std::string ids_format;  ///< of ids_file; empty: told by its ending
  std::optional<std::string> tokens;
  std::optional<std::string> inputs_embeds;  ///< a file
  std::optional<std::int64_t> batch_size;
  std::optional<std::int64_t> sequence_length;

  std::optional<std::string> lengths;
  std::string ragged;  ///< "padded", "packed" or empty
  std::string padding_side;

  std::optional<std::int64_t> offset;
  std::optional<std::string> offsets;
  std::optional<std::string> position_ids;
  std::optional<std::string> type_ids;
  std::optional<std::string> mask;

  std::string part = "composed";
  std::string dtype = "float32";
  std::string chunks = "auto";  ///< "auto", "always" or "never"

  /// The words of `tokens`, set apart by blanks.
  [[nodiscard]] std::vector<std::string> Words() const;

  /// How many options want standard input.
  [[nodiscard]] int InputReaders() const;
};

/// The request of the command line, whose ids are still 0 where there are `tokens`, which need the server.
///
/// Errors:
///   INVALID_ARGUMENT  lists or files that cannot be read; no ids for a part that needs them; what no request can say.
[[nodiscard]] absl::StatusOr<client::EmbedRequest> ReadRequest(const EmbedInput& input, const Surroundings& world);

/// Asks the server for the ids of `tokens`, if there are any, and then for the embeddings.
[[nodiscard]] absl::StatusOr<client::Embedding> Embed(const EmbedInput& input, const client::Client& client,
                                                      client::EmbedRequest& request);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_COMMANDS_EMBED_INPUT_H_
