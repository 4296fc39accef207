#include "server/oip/region_span.h"

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/oip/quote.h"
#include "server/service/region_access.h"

namespace embd::oip {

absl::StatusOr<RegionSpan> FindRegionSpan(const service::Backend& backend, const service::Call& call,
                                          const RegionPart& part) {
  if (absl::Status status = service::CheckMayUseRegions(backend, call); !status.ok()) return status;
  auto memory = backend.regions.Find(part.region);
  if (!memory.ok()) {
    return core::Error(absl::StatusCode::kNotFound, "REGION_NOT_FOUND",
                       absl::StrCat("Unable to find shared memory region: ", InQuotes(part.region)));
  }
  const std::span<std::byte> bytes = (*memory)->bytes();
  const auto size = static_cast<std::int64_t>(bytes.size());
  if (part.offset < 0 || part.offset >= size) {
    return core::InvalidArgument(
        "INVALID_OPTION", absl::StrCat("Invalid offset for shared memory region: ", InQuotes(part.region), ": it has ",
                                       size, " bytes, got offset ", part.offset));
  }
  if (part.byte_size < 0 || part.byte_size > size - part.offset) {
    return core::InvalidArgument(
        "INVALID_OPTION",
        absl::StrCat("Invalid offset + byte size for shared memory region: ", InQuotes(part.region), ": it has ", size,
                     " bytes, got offset ", part.offset, " and byte size ", part.byte_size));
  }
  return RegionSpan{
      .memory = *std::move(memory),
      .bytes = bytes.subspan(static_cast<std::size_t>(part.offset), static_cast<std::size_t>(part.byte_size))};
}

absl::Status CheckUndamaged(const RegionPart& part, const RegionSpan& span) {
  if (!span.memory->damaged()) return absl::OkStatus();
  return core::Error(absl::StatusCode::kFailedPrecondition, "REGION_DAMAGED",
                     absl::StrCat("the file of shared memory region ", InQuotes(part.region),
                                  " was cut short, or has lost its memory; unregister it and register another"));
}

}  // namespace embd::oip
