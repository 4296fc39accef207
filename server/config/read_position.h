#ifndef EMBD_SERVER_CONFIG_READ_POSITION_H_
#define EMBD_SERVER_CONFIG_READ_POSITION_H_

#include <optional>
#include <string>
#include <variant>

#include "server/config/map_reader.h"
#include "server/config/server_config.h"

namespace embd::config {

/// Reads the key `position` of a model; nothing where it is not given.
///
/// A seeded token table's seed stands in for a position table's that is not given, and its width is what the position
/// encoding must fit; of a token table on disk nothing is known yet. What is wrong is reported to the reader's errors.
[[nodiscard]] std::optional<Positions> ReadPosition(MapReader& model,
                                                    const std::variant<TableFile, SeededTokens>& token,
                                                    const std::string& folder);

}  // namespace embd::config

#endif  // EMBD_SERVER_CONFIG_READ_POSITION_H_
