#ifndef EMBD_SERVER_CONFIG_READ_NUMBERING_H_
#define EMBD_SERVER_CONFIG_READ_NUMBERING_H_

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads numbering and row_offset of the map `position` into `out`, whose path, padding_idx and position have been
/// read. What is wrong is reported to the reader's errors: a rule that needs what is neither given nor inferred, and a
/// rule for positions that no table is asked for.
void ReadNumbering(MapReader& position, ModelConfig& out);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_NUMBERING_H_
