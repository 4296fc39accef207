#ifndef EMBD_CLIENT_FAKE_NEAREST_H_
#define EMBD_CLIENT_FAKE_NEAREST_H_

#include "absl/status/statusor.h"
#include "embd/client/fake_transport.h"
#include "embd/client/nearest.h"

namespace embd::client::fake {

/// Compares every row with every query, one after the other.
///
/// Errors: as DiagnosticsService.NearestTokens of the .proto.
[[nodiscard]] absl::StatusOr<NearestTokens> FindNearest(const FakeModel& model, const NearestTokensRequest& request);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_NEAREST_H_
