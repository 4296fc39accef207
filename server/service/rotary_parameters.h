#ifndef EMBD_SERVER_SERVICE_ROTARY_PARAMETERS_H_
#define EMBD_SERVER_SERVICE_ROTARY_PARAMETERS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "embd/v1/rotary.pb.h"
#include "server/core/engine/model.h"
#include "server/core/engine/model_registry.h"
#include "server/core/position/rotary.h"

namespace embd::service {

/// By what a request wants vectors turned; not checked beyond enums.
struct RotaryChoice {
  std::shared_ptr<const core::Model> model;  ///< null: none was named
  core::RotaryParameters parameters;         ///< head_dim 0: neither the model nor the request says it
};

/// Joins the parameters of the named model (and layer type) and those given, which go before.
///
/// Errors:
///   NOT_FOUND           as ModelRegistry::Find
///   INVALID_ARGUMENT    [INVALID_OPTION] neither model nor parameters, a version or layer type without a model, a
///   layer
///                       type that the model has not; [UNKNOWN_ENUM_VALUE]
///   FAILED_PRECONDITION [NO_ROTARY] the model has no rotary encoding, and no parameters are given
template <typename Request>
[[nodiscard]] absl::StatusOr<RotaryChoice> ChooseRotary(const core::ModelRegistry& models, const Request& request);

/// The same, field by field; `given` is null where the request has no parameters.
[[nodiscard]] absl::StatusOr<RotaryChoice> ChooseRotary(const core::ModelRegistry& models, const std::string& model,
                                                        const std::string& version, const std::string& layer_type,
                                                        const v1::RotaryParameters* given);

template <typename Request>
absl::StatusOr<RotaryChoice> ChooseRotary(const core::ModelRegistry& models, const Request& request) {
  return ChooseRotary(models, request.model(), request.model_version(), request.layer_type(),
                      request.has_parameters() ? &request.parameters() : nullptr);
}

/// As DescribeModel shows parameters: every field set, scaling where there is any.
[[nodiscard]] v1::RotaryParameters ToMessage(const core::RotaryParameters& parameters);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_ROTARY_PARAMETERS_H_
