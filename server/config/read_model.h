#ifndef EMBD_SERVER_CONFIG_READ_MODEL_H_
#define EMBD_SERVER_CONFIG_READ_MODEL_H_

#include <string>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads one item of `models`. Relative paths of tables are taken relative to `folder` (empty: left as they are).
/// What is wrong is reported to the reader's errors; the result then means nothing.
[[nodiscard]] ModelConfig ReadModel(MapReader& model, const std::string& folder);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_MODEL_H_
