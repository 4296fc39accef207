#ifndef EMBD_SERVER_CONFIG_CHANGED_SETTINGS_H_
#define EMBD_SERVER_CONFIG_CHANGED_SETTINGS_H_

#include <string>
#include <vector>

#include "server/config/server_config.h"

namespace embd::config {

/// The key paths of the settings of `server` that are not the same in both, such as "server.limits.max_batch_size". A
/// section that may be left out is one setting: "server.tls", "server.shared_memory". Models are not looked at.
[[nodiscard]] std::vector<std::string> ChangedSettings(const ServerConfig& a, const ServerConfig& b);

/// All key paths that ChangedSettings can name.
[[nodiscard]] std::vector<std::string> AllSettings();

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_CHANGED_SETTINGS_H_
