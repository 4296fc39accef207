#include "server/service/region_access.h"

#include "server/core/error.h"

namespace embd::service {

absl::Status CheckMayUseRegions(const Backend& backend, const Call& call) {
  if (!backend.regions.on()) {
    return core::Error(absl::StatusCode::kFailedPrecondition, "REGIONS_OFF",
                       "regions of shared memory are off; server.shared_memory.prefix in the server's configuration "
                       "turns them on");
  }
  if (!call.IsLocal()) {
    return core::Error(
        absl::StatusCode::kPermissionDenied, "NOT_LOCAL",
        "regions of shared memory are for callers on the server's machine; call through its Unix socket");
  }
  return absl::OkStatus();
}

}  // namespace embd::service
