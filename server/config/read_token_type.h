#ifndef EMBD_SERVER_CONFIG_READ_TOKEN_TYPE_H_
#define EMBD_SERVER_CONFIG_READ_TOKEN_TYPE_H_

#include <string>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the key `token_type` of a model into token_types of `out`, whose path and token have been read.
///
/// Without a path the map must say where its rows come from; with one it may leave that to be inferred. A seeded token
/// table's seed stands in for one that is not given. What is wrong is reported to the reader's errors.
void ReadTokenType(MapReader& model, const std::string& folder, ModelConfig& out);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_TOKEN_TYPE_H_
