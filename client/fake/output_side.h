#ifndef EMBD_CLIENT_FAKE_OUTPUT_SIDE_H_
#define EMBD_CLIENT_FAKE_OUTPUT_SIDE_H_

#include "absl/status/statusor.h"
#include "embd/client/fake_transport.h"
#include "embd/client/gradient.h"

namespace embd::client::fake {

/// The loss of a request with an output side, and the norms of its gradient's rows.
///
/// Errors: as EmbeddingService.Gradient of the .proto.
[[nodiscard]] absl::StatusOr<Gradients> FindOutputSideGradient(const FakeModel& model, const GradientRequest& request);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_OUTPUT_SIDE_H_
