#ifndef EMBD_SERVER_SERVICE_PROJECT_H_
#define EMBD_SERVER_SERVICE_PROJECT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "embd/v1/project.pb.h"
#include "server/core/engine/model_registry.h"
#include "server/core/threads/share_out.h"

namespace embd::service {

/// The rows of a model's token table that score best with vectors, or the scores of the ids that are asked for.
///
/// Errors: see Project in embedding.proto; RESOURCE_EXHAUSTED [RESPONSE_TOO_LARGE] more scores than a reply of
/// `max_response_bytes` holds; those of `share`.
[[nodiscard]] absl::StatusOr<v1::ProjectResponse> AnswerProject(const core::ModelRegistry& models,
                                                                const v1::ProjectRequest& request,
                                                                std::int64_t max_response_bytes, core::ShareOut share);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_PROJECT_H_
