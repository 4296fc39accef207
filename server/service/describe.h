#ifndef EMBD_SERVER_SERVICE_DESCRIBE_H_
#define EMBD_SERVER_SERVICE_DESCRIBE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "embd/v1/diagnostics.pb.h"
#include "server/core/engine/model_registry.h"
#include "server/service/backend.h"

// Models and the server, as messages. Errors and fields are described in diagnostics.proto.
namespace embd::service {

/// The memory of a model's tables, in bytes.
[[nodiscard]] std::int64_t TableBytes(const core::Model& model);

[[nodiscard]] v1::DataType ToDataType(core::ElementType type);

[[nodiscard]] absl::StatusOr<v1::ListModelsResponse> AnswerListModels(const core::ModelRegistry& models);

[[nodiscard]] absl::StatusOr<v1::DescribeModelResponse> AnswerDescribeModel(const core::ModelRegistry& models,
                                                                            const v1::DescribeModelRequest& request);

[[nodiscard]] v1::GetServerInfoResponse AnswerGetServerInfo(const Backend& backend);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_DESCRIBE_H_
