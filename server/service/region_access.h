#ifndef EMBD_SERVER_SERVICE_REGION_ACCESS_H_
#define EMBD_SERVER_SERVICE_REGION_ACCESS_H_

#include <string>

#include "absl/status/status.h"
#include "embd/v1/admin.pb.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::service {

/// Whether the call may manage regions of shared memory and have results written there.
///
/// Errors:
///   FAILED_PRECONDITION [REGIONS_OFF] the server's configuration allows none.
///   PERMISSION_DENIED   [NOT_LOCAL] the call came over TCP.
[[nodiscard]] absl::Status CheckMayUseRegions(const Backend& backend, const Call& call);

/// Registers a region for the caller; if it leaves meanwhile, nothing is registered, since it could not know that it
/// should unregister anything. Errors: those of CheckMayUseRegions, SharedRegions::Register and Call::Interrupted.
[[nodiscard]] absl::Status RegisterRegion(Backend& backend, const Call& call, const v1::Region& region);

/// Errors: those of CheckMayUseRegions and SharedRegions::Unregister.
[[nodiscard]] absl::Status UnregisterRegion(Backend& backend, const Call& call, const std::string& name);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_REGION_ACCESS_H_
