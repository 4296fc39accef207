#ifndef EMBD_SERVER_CONFIG_READ_TOKEN_H_
#define EMBD_SERVER_CONFIG_READ_TOKEN_H_

#include <string>
#include <variant>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the key `token` of a model into token, token_scale, out_of_range and dropout_mask_id of `out`, whose path has
/// been read.
///
/// Without a path the map must be there and name its rows; with one it may not, and holds only what is said otherwise
/// than the path would have it. What is wrong is reported to the reader's errors.
void ReadToken(MapReader& model, const std::string& folder, ModelConfig& out);

/// The ids of the token table: those of its rows where they are seeded, all from 0 where a file will tell.
[[nodiscard]] IntegerRange IdsOf(const std::variant<TableFile, SeededTokens>& rows);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_TOKEN_H_
