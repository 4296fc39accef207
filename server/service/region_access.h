#ifndef EMBD_SERVER_SERVICE_REGION_ACCESS_H_
#define EMBD_SERVER_SERVICE_REGION_ACCESS_H_

#include "absl/status/status.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::service {

/// Whether the call may manage regions of shared memory and have results written there.
///
/// Errors:
///   FAILED_PRECONDITION [REGIONS_OFF] the server's configuration allows none.
///   PERMISSION_DENIED   [NOT_LOCAL] the call came over TCP.
[[nodiscard]] absl::Status CheckMayUseRegions(const Backend& backend, const Call& call);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_REGION_ACCESS_H_
