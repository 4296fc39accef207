#ifndef EMBD_SERVER_CORE_ENGINE_EMBED_CHECKS_H_
#define EMBD_SERVER_CORE_ENGINE_EMBED_CHECKS_H_

#include "absl/status/status.h"
#include "server/core/engine/batch_shape.h"
#include "server/core/engine/distinct_ids.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model.h"

// What EmbedPlan::Create promises to check, in its order; errors are described there.
namespace embd::core {

/// Whether the options go together, and the model has what the request wants.
[[nodiscard]] absl::Status CheckModelCan(const Model& model, const EmbedInput& input);

/// Whether every field has as many values as the shape asks for, and vectors have the model's width.
[[nodiscard]] absl::Status CheckCounts(const Model& model, const EmbedInput& input, const BatchShape& shape);

/// Whether batch and reply keep to the limits; the reply of a `unique` request, whose size is not known yet, is left to
/// CheckDistinct.
[[nodiscard]] absl::Status CheckLimits(const Model& model, const EmbedInput& input, const BatchShape& shape,
                                       const EmbedLimits& limits);

/// Whether token types and mask are in their ranges, and the ids, where the model's policy refuses others.
[[nodiscard]] absl::Status CheckValues(const Model& model, const EmbedInput& input, const BatchShape& shape);

/// Whether the reply to a `unique` request keeps to the limit, with the numbers that go before its rows.
[[nodiscard]] absl::Status CheckDistinct(const Model& model, const EmbedInput& input, const DistinctIds& distinct,
                                         const EmbedLimits& limits);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_EMBED_CHECKS_H_
