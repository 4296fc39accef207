#ifndef EMBD_SERVER_ARCHITECTURES_ROTARY_SCALING_H_
#define EMBD_SERVER_ARCHITECTURES_ROTARY_SCALING_H_

#include <optional>
#include <string>

#include "server/architectures/rotary_settings.h"
#include "server/config/server_config.h"

namespace embd::architectures {

/// Reads what `block` (a rope_scaling, or a rope_parameters) says of scaling; nothing where its type is default.
/// `settings` is the level above it, `key` where the values belong, e.g. "position.rotary.scaling".
///
/// Reports an unknown type and a missing field; notes fields that are not used.
[[nodiscard]] std::optional<config::RotaryScalingConfig> ReadRotaryScaling(
    const Settings& block, const Settings& settings, const RotaryKeys& keys, const RotaryFacts& facts,
    const std::string& key, InferredValues* found, Fault* fault);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_ROTARY_SCALING_H_
