#include "server/service/admin_service.h"

#include <utility>

#include "server/service/raw_unary.h"
#include "server/service/region_access.h"

namespace embd::service {

grpc::ServerUnaryReactor* AdminService::RegisterRegion(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::RegisterRegionRequest, v1::RegisterRegionResponse>::Start(
      backend_, Method::kRegisterRegion, context, request, reply, Length::kMedium,
      [this](const auto& message, const Call& call) -> absl::StatusOr<v1::RegisterRegionResponse> {
        if (absl::Status status = service::RegisterRegion(*backend_, call, message.region()); !status.ok())
          return status;
        return v1::RegisterRegionResponse();
      });
}

grpc::ServerUnaryReactor* AdminService::UnregisterRegion(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::UnregisterRegionRequest, v1::UnregisterRegionResponse>::Start(
      backend_, Method::kUnregisterRegion, context, request, reply, Length::kMedium,
      [this](const auto& message, const Call& call) -> absl::StatusOr<v1::UnregisterRegionResponse> {
        if (absl::Status status = service::UnregisterRegion(*backend_, call, message.name()); !status.ok())
          return status;
        return v1::UnregisterRegionResponse();
      });
}

grpc::ServerUnaryReactor* AdminService::ListRegions(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::ListRegionsRequest, v1::ListRegionsResponse>::Start(
      backend_, Method::kListRegions, context, request, reply, Length::kShort,
      [this](const auto&, const Call& call) -> absl::StatusOr<v1::ListRegionsResponse> {
        if (absl::Status status = CheckMayUseRegions(*backend_, call); !status.ok()) return status;
        v1::ListRegionsResponse response;
        for (v1::Region& region : backend_->regions.All()) *response.add_regions() = std::move(region);
        return response;
      });
}

}  // namespace embd::service
