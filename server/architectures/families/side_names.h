#ifndef EMBD_SERVER_ARCHITECTURES_FAMILIES_SIDE_NAMES_H_
#define EMBD_SERVER_ARCHITECTURES_FAMILIES_SIDE_NAMES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "server/architectures/draft.h"
#include "server/config/server_config.h"

namespace embd::architectures {

/// The bias of the output, which most encoder-decoders keep although it is zero.
inline constexpr char kFinalBias[] = "final_logits_bias";

/// "encoder", "decoder".
[[nodiscard]] absl::string_view SideName(config::Side side);

/// SIDE.NAME, with and without `model.` before it.
[[nodiscard]] Names SideNames(config::Side side, absl::string_view name);

/// Names of the token table that both sides share: `shared.weight`, else the one of `side`, or of either where that is
/// unset.
[[nodiscard]] Names SharedNames(std::optional<config::Side> side);

/// The token rows are multiplied by sqrt(width) where `scale_embedding`, by default `fallback`, says so.
void ScaleWhereSaid(Draft* draft, bool fallback);

}  // namespace embd::architectures

#endif  // EMBD_SERVER_ARCHITECTURES_FAMILIES_SIDE_NAMES_H_
