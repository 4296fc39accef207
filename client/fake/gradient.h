#ifndef EMBD_CLIENT_FAKE_GRADIENT_H_
#define EMBD_CLIENT_FAKE_GRADIENT_H_

#include "absl/status/statusor.h"
#include "embd/client/diagnostics.h"
#include "embd/client/fake_transport.h"
#include "embd/client/gradient.h"

namespace embd::client::fake {

/// The gradients of a batch, cell by cell, or of an output side. A limit of 0 is none.
///
/// Errors: as EmbeddingService.Gradient of the .proto.
[[nodiscard]] absl::StatusOr<Gradients> FindGradients(const FakeModel& model, const GradientRequest& request,
                                                      const ServerLimits& limits);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_GRADIENT_H_
