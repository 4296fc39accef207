#ifndef EMBD_CLIENT_FAKE_ROTATE_H_
#define EMBD_CLIENT_FAKE_ROTATE_H_

#include "absl/status/statusor.h"
#include "embd/client/diagnostics.h"
#include "embd/client/fake_transport.h"
#include "embd/client/rotary.h"

namespace embd::client::fake {

/// Turns vectors as a server does, one component at a time. `model` is null where none is named. A limit of 0 is none.
///
/// Errors: as EmbeddingService.Rotate of the .proto.
[[nodiscard]] absl::StatusOr<RotatedVectors> Rotate(const FakeModel* model, const RotateRequest& request,
                                                    const ServerLimits& limits);

/// Errors: as EmbeddingService.RotaryTable of the .proto.
[[nodiscard]] absl::StatusOr<RotaryTable> MakeRotaryTable(const FakeModel* model, const RotaryTableRequest& request,
                                                          const ServerLimits& limits);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_ROTATE_H_
