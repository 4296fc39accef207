#ifndef EMBD_SERVER_CONFIG_READ_SERVER_H_
#define EMBD_SERVER_CONFIG_READ_SERVER_H_

#include <string>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the map `server` over what `out` holds. Paths of certificates and tokens are relative to `folder`.
void ReadServer(MapReader& server, const std::string& folder, ServerConfig& out);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_SERVER_H_
