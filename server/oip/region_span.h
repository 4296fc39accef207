#ifndef EMBD_SERVER_OIP_REGION_SPAN_H_
#define EMBD_SERVER_OIP_REGION_SPAN_H_

#include <cstddef>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "server/core/regions/shared_region.h"
#include "server/oip/infer_parameters.h"
#include "server/service/backend.h"
#include "server/service/call.h"

namespace embd::oip {

/// A part of a registered region. Keeps the region mapped.
struct RegionSpan {
  std::shared_ptr<const core::SharedRegion> memory;
  std::span<std::byte> bytes;
};

/// Finds the region and checks that the part lies in it. Nothing is read or written.
///
/// Errors: those of service::CheckMayUseRegions, and
///   NOT_FOUND         [REGION_NOT_FOUND]
///   INVALID_ARGUMENT  [INVALID_OPTION] a part that begins or ends outside the region
[[nodiscard]] absl::StatusOr<RegionSpan> FindRegionSpan(const service::Backend& backend, const service::Call& call,
                                                        const RegionPart& part);

/// Errors: FAILED_PRECONDITION [REGION_DAMAGED] the region's file was cut short, so that what was read or written there
/// is not what the other process has.
[[nodiscard]] absl::Status CheckUndamaged(const RegionPart& part, const RegionSpan& span);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_REGION_SPAN_H_
