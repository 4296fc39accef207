#ifndef EMBD_SERVER_CORE_ENGINE_EMBED_CHECKS_H_
#define EMBD_SERVER_CORE_ENGINE_EMBED_CHECKS_H_

#include "absl/status/status.h"
#include "server/core/engine/embed_plan.h"

namespace embd::core {

/// Checks everything that EmbedPlan::Create promises; errors are described there.
[[nodiscard]] absl::Status CheckEmbedInput(const Model& model, const EmbedInput& input, const EmbedLimits& limits);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_EMBED_CHECKS_H_
