#include "server/service/region_access.h"

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/observability/log.h"

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

absl::Status RegisterRegion(Backend& backend, const Call& call, const v1::Region& region) {
  if (absl::Status status = CheckMayUseRegions(backend, call); !status.ok()) return status;
  if (absl::Status status = backend.regions.Register(region); !status.ok()) return status;
  if (absl::Status status = call.Interrupted(); !status.ok()) {
    // Mapping takes long; a caller that left meanwhile could not unregister what was not there yet.
    backend.regions.Unregister(region.name()).IgnoreError();
    return status;
  }
  observability::LogInfo(absl::StrCat("registered region ", core::Quote(region.name()), ": ", region.byte_size(),
                                      " bytes of ", core::Quote(region.path()), " from ", region.offset(), " on"));
  return absl::OkStatus();
}

absl::Status UnregisterRegion(Backend& backend, const Call& call, const std::string& name) {
  if (absl::Status status = CheckMayUseRegions(backend, call); !status.ok()) return status;
  if (absl::Status status = backend.regions.Unregister(name); !status.ok()) return status;
  observability::LogInfo(absl::StrCat("unregistered region ", core::Quote(name)));
  return absl::OkStatus();
}

}  // namespace embd::service
