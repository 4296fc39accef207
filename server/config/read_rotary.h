#ifndef EMBD_SERVER_CONFIG_READ_ROTARY_H_
#define EMBD_SERVER_CONFIG_READ_ROTARY_H_

#include <cstdint>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the key `rotary` of a position encoding. `token_width` is that of the token table, which stands in for
/// head_dim; 0: not known yet. What a type of scaling needs is checked when the model is built.
[[nodiscard]] RotaryPositions ReadRotary(MapReader& rotary, std::int64_t token_width);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_ROTARY_H_
