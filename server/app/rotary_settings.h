#ifndef EMBD_SERVER_APP_ROTARY_SETTINGS_H_
#define EMBD_SERVER_APP_ROTARY_SETTINGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "server/config/server_config.h"
#include "server/core/engine/model.h"

namespace embd::app {

/// Makes `parts` rotary: the configured parameters, with the defaults where nothing is configured and `token_width` as
/// head_dim, for all layers and for each layer type. Fields of a scaling that its type does not take go to `warnings`.
///
/// Errors: those of core::ResolveRotary; each message begins with where in the configuration it is.
[[nodiscard]] absl::Status AddRotary(const config::RotaryPositions& rotary, std::int64_t token_width,
                                     core::ModelParts* parts, std::vector<std::string>* warnings);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_ROTARY_SETTINGS_H_
