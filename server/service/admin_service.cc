#include "server/service/admin_service.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/observability/log.h"
#include "server/service/raw_unary.h"
#include "server/service/region_access.h"

namespace embd::service {

grpc::ServerUnaryReactor* AdminService::RegisterRegion(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::RegisterRegionRequest, v1::RegisterRegionResponse>::Start(
      backend_, "RegisterRegion", context, request, reply, Length::kMedium,
      [this](const auto& message, const Call& call) -> absl::StatusOr<v1::RegisterRegionResponse> {
        const v1::Region& region = message.region();
        if (absl::Status status = CheckMayUseRegions(*backend_, call); !status.ok()) return status;
        if (absl::Status status = backend_->regions.Register(region); !status.ok()) return status;
        if (absl::Status status = call.Interrupted(); !status.ok()) {
          // Mapping takes long; a caller that left meanwhile could not unregister what was not there yet.
          backend_->regions.Unregister(region.name()).IgnoreError();
          return status;
        }
        observability::LogInfo(absl::StrCat("registered region ", core::Quote(region.name()), ": ", region.byte_size(),
                                            " bytes of ", core::Quote(region.path()), " from ", region.offset(),
                                            " on"));
        return v1::RegisterRegionResponse();
      });
}

grpc::ServerUnaryReactor* AdminService::UnregisterRegion(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::UnregisterRegionRequest, v1::UnregisterRegionResponse>::Start(
      backend_, "UnregisterRegion", context, request, reply, Length::kMedium,
      [this](const auto& message, const Call& call) -> absl::StatusOr<v1::UnregisterRegionResponse> {
        if (absl::Status status = CheckMayUseRegions(*backend_, call); !status.ok()) return status;
        if (absl::Status status = backend_->regions.Unregister(message.name()); !status.ok()) return status;
        observability::LogInfo(absl::StrCat("unregistered region ", core::Quote(message.name())));
        return v1::UnregisterRegionResponse();
      });
}

grpc::ServerUnaryReactor* AdminService::ListRegions(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::ListRegionsRequest, v1::ListRegionsResponse>::Start(
      backend_, "ListRegions", context, request, reply, Length::kShort,
      [this](const auto&, const Call& call) -> absl::StatusOr<v1::ListRegionsResponse> {
        if (absl::Status status = CheckMayUseRegions(*backend_, call); !status.ok()) return status;
        v1::ListRegionsResponse response;
        for (v1::Region& region : backend_->regions.All()) *response.add_regions() = std::move(region);
        return response;
      });
}

}  // namespace embd::service
