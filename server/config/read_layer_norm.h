#ifndef EMBD_SERVER_CONFIG_READ_LAYER_NORM_H_
#define EMBD_SERVER_CONFIG_READ_LAYER_NORM_H_

#include <string>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the key `layer_norm` of a model into `out`, whose path has been read.
///
/// Without a path the map must hold a weight with a file; with one the weight may be left out for the sake of another
/// eps, and its file may be the one that is inferred. What is wrong is reported to the reader's errors.
void ReadLayerNorm(MapReader& model, const std::string& folder, ModelConfig& out);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_LAYER_NORM_H_
