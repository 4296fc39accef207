#include "server/oip/region_calls.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "server/core/error.h"
#include "server/oip/quote.h"
#include "server/service/region_access.h"

namespace embd::oip {
namespace {

constexpr absl::string_view kFolder = "/dev/shm/";

absl::Status NotFound(const std::string& name) {
  return core::Error(absl::StatusCode::kNotFound, "REGION_NOT_FOUND",
                     absl::StrCat("Unable to find system shared memory region: ", InQuotes(name)));
}

// Regions that embd.v1 has registered elsewhere have their whole path as key.
std::string KeyOf(const std::string& path) {
  return absl::StartsWith(path, kFolder) ? path.substr(kFolder.size() - 1) : path;
}

}  // namespace

absl::StatusOr<::inference::SystemSharedMemoryStatusResponse> AnswerRegionStatus(
    const service::Backend& backend, const service::Call& call,
    const ::inference::SystemSharedMemoryStatusRequest& request) {
  if (absl::Status status = service::CheckMayUseRegions(backend, call); !status.ok()) return status;
  ::inference::SystemSharedMemoryStatusResponse response;
  for (const auto& region : backend.regions.All()) {
    if (!request.name().empty() && region.name() != request.name()) continue;
    auto& message = (*response.mutable_regions())[region.name()];
    message.set_name(region.name());
    message.set_key(KeyOf(region.path()));
    message.set_offset(static_cast<std::uint64_t>(region.offset()));
    message.set_byte_size(static_cast<std::uint64_t>(region.byte_size()));
  }
  if (!request.name().empty() && response.regions().empty()) return NotFound(request.name());
  return response;
}

absl::StatusOr<::inference::SystemSharedMemoryRegisterResponse> AnswerRegister(
    service::Backend& backend, const service::Call& call,
    const ::inference::SystemSharedMemoryRegisterRequest& request) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (request.offset() > kLargest || request.byte_size() > kLargest) {
    return core::InvalidArgument(
        "INVALID_OPTION",
        absl::StrCat("Invalid offset + byte size for shared memory region: ", InQuotes(request.name()), ": offset ",
                     request.offset(), ", byte_size ", request.byte_size(), ", neither may exceed 2^63 - 1"));
  }
  v1::Region region;
  region.set_name(request.name());
  region.set_path(absl::StrCat(kFolder, absl::StripPrefix(request.key(), "/")));
  region.set_offset(static_cast<std::int64_t>(request.offset()));
  region.set_byte_size(static_cast<std::int64_t>(request.byte_size()));
  if (absl::Status status = service::RegisterRegion(backend, call, region); !status.ok()) {
    if (core::ErrorReason(status) != "REGION_EXISTS") return status;
    return core::Error(absl::StatusCode::kAlreadyExists, "REGION_EXISTS",
                       absl::StrCat("shared memory region ", InQuotes(request.name()), " already in manager"));
  }
  return ::inference::SystemSharedMemoryRegisterResponse();
}

absl::StatusOr<::inference::SystemSharedMemoryUnregisterResponse> AnswerUnregister(
    service::Backend& backend, const service::Call& call,
    const ::inference::SystemSharedMemoryUnregisterRequest& request) {
  if (absl::Status status = service::CheckMayUseRegions(backend, call); !status.ok()) return status;
  for (const auto& region : backend.regions.All()) {
    if (!request.name().empty() && region.name() != request.name()) continue;
    // one that has gone meanwhile is what was asked for
    if (absl::Status status = service::UnregisterRegion(backend, call, region.name());
        !status.ok() && !absl::IsNotFound(status)) {
      return status;
    }
  }
  return ::inference::SystemSharedMemoryUnregisterResponse();
}

}  // namespace embd::oip
