#ifndef EMBD_CLIENT_SRC_CONVERT_TRAINING_H_
#define EMBD_CLIENT_SRC_CONVERT_TRAINING_H_

#include "absl/status/statusor.h"
#include "embd/client/bags.h"
#include "embd/client/gradient.h"
#include "embd/client/project.h"
#include "embd/v1/embedding.pb.h"

// Between the structs of the library for bags, gradients and projections and the messages on the wire. Requests are not
// checked. Replies whose lists do not fit together are INTERNAL.
namespace embd::client {

/// Ids of ragged bags go as an ids_tensor where they fit one of INT32.
[[nodiscard]] v1::EmbedBagsRequest ToProto(const EmbedBagsRequest& request);
[[nodiscard]] v1::GradientRequest ToProto(const GradientRequest& request);
[[nodiscard]] v1::ProjectRequest ToProto(const ProjectRequest& request);

[[nodiscard]] absl::StatusOr<PooledBags> FromProto(v1::EmbedBagsResponse&& response);
[[nodiscard]] absl::StatusOr<Gradients> FromProto(v1::GradientResponse&& response);
[[nodiscard]] absl::StatusOr<Projection> FromProto(v1::ProjectResponse&& response);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CONVERT_TRAINING_H_
