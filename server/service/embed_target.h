#ifndef EMBD_SERVER_SERVICE_EMBED_TARGET_H_
#define EMBD_SERVER_SERVICE_EMBED_TARGET_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "embd/v1/embedding.pb.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/regions/shared_region.h"
#include "server/service/backend.h"
#include "server/service/call.h"

// Results that go into a region of shared memory in place of a reply.
namespace embd::service {

/// Where one result goes. Keeps the region mapped.
struct EmbedTarget {
  std::shared_ptr<const core::SharedRegion> memory;
  std::span<std::byte> out;        ///< in the region; exactly as long as the result
  v1::SharedMemoryTarget written;  ///< what the reply says of it
};

/// The target of the request; none where it names none. Nothing is written.
///
/// Errors: those of CheckMayUseRegions and SharedRegions::Find, and
///   INVALID_ARGUMENT    [INVALID_OPTION] an offset or a size that does not fit the region or the result
///   FAILED_PRECONDITION [REGION_DAMAGED] the region's file was cut short
[[nodiscard]] absl::StatusOr<std::optional<EmbedTarget>> FindTarget(const Backend& backend, const Call& call,
                                                                    const v1::EmbedRequest& request,
                                                                    const core::EmbedPlan& plan);

/// Composes the result there. `interrupted` is asked before anything is written, and then as by ComposeInto. Errors:
/// those of ComposeInto; FAILED_PRECONDITION [REGION_DAMAGED] the region's file was cut short meanwhile.
[[nodiscard]] absl::Status ComposeToTarget(Backend& backend, const core::EmbedPlan& plan, const EmbedTarget& target,
                                           absl::FunctionRef<absl::Status()> interrupted);

/// The reply: all but the elements.
[[nodiscard]] v1::EmbedResponse TargetReply(const core::EmbedPlan& plan, const EmbedTarget& target);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_TARGET_H_
