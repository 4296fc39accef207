#ifndef EMBD_SERVER_CONFIG_READ_OUTPUT_H_
#define EMBD_SERVER_CONFIG_READ_OUTPUT_H_

#include <string>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the key `output` of a model into `out`, whose path has been read. Without a path a bias must hold a file. What
/// is wrong is reported to the reader's errors.
void ReadOutput(MapReader& model, const std::string& folder, ModelConfig& out);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_OUTPUT_H_
