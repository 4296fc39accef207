#ifndef EMBD_SERVER_SERVICE_EXPLAIN_CELL_H_
#define EMBD_SERVER_SERVICE_EXPLAIN_CELL_H_

#include "absl/status/statusor.h"
#include "embd/v1/explain.pb.h"
#include "server/core/engine/embed_input.h"
#include "server/core/engine/model_registry.h"

namespace embd::service {

/// How the embedding of one cell comes about. Errors: see ExplainCell in diagnostics.proto.
[[nodiscard]] absl::StatusOr<v1::ExplainCellResponse> AnswerExplainCell(const core::ModelRegistry& models,
                                                                        const core::EmbedLimits& limits,
                                                                        const v1::ExplainCellRequest& request);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EXPLAIN_CELL_H_
