#ifndef EMBD_CLIENT_FAKE_PROJECT_H_
#define EMBD_CLIENT_FAKE_PROJECT_H_

#include "absl/status/statusor.h"
#include "embd/client/fake_transport.h"
#include "embd/client/project.h"

namespace embd::client::fake {

/// Scores all rows, one after the other. Errors: as EmbeddingService.Project of the .proto.
[[nodiscard]] absl::StatusOr<Projection> Project(const FakeModel& model, const ProjectRequest& request);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_PROJECT_H_
