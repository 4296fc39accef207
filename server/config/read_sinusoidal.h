#ifndef EMBD_SERVER_CONFIG_READ_SINUSOIDAL_H_
#define EMBD_SERVER_CONFIG_READ_SINUSOIDAL_H_

#include <cstdint>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// The most positions that a computed table grows to: from 2^24 on float32 does not tell neighbours apart.
inline constexpr std::int64_t kLargestGrowTo = std::int64_t{1} << 24;

/// Reads the map `position.sinusoidal` of a model. `width` is that of the token table, 0 where it is not known yet;
/// with `has_path` all keys may be left out. What is wrong is reported to the reader's errors.
[[nodiscard]] SinusoidalPositions ReadSinusoidal(MapReader& sinusoidal, std::int64_t width, bool has_path);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_SINUSOIDAL_H_
