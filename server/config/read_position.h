#ifndef EMBD_SERVER_CONFIG_READ_POSITION_H_
#define EMBD_SERVER_CONFIG_READ_POSITION_H_

#include <string>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the key `position` of a model into position, numbering and row_offset of `out`, whose path, token and
/// padding_idx have been read.
///
/// A seeded token table's seed stands in for a position table's that is not given, and its width is what the position
/// encoding must fit; of a token table on disk nothing is known yet. Without a path the map must name one kind and
/// where its rows come from; with one the kind and its keys may be left to be inferred. What is wrong is reported to
/// the reader's errors.
void ReadPosition(MapReader& model, const std::string& folder, ModelConfig& out);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_POSITION_H_
