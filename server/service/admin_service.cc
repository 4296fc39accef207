#include "server/service/admin_service.h"

#include <chrono>
#include <string>
#include <utility>

#include "server/core/error.h"
#include "server/service/detached_unary.h"
#include "server/service/raw_unary.h"
#include "server/service/region_access.h"

namespace embd::service {
namespace {

using Time = std::chrono::steady_clock::time_point;

v1::LoadedModel ToProto(const LoadedModel& model) {
  v1::LoadedModel message;
  message.set_name(model.name);
  message.set_version(model.version);
  message.set_generation(model.generation);
  message.set_checksum(model.checksum);
  message.set_load_time_ms(std::chrono::duration_cast<std::chrono::milliseconds>(model.load_time).count());
  return message;
}

// The log has the text of a fault of ours; a caller gets no more than that there is one.
absl::Status WithoutInternals(const absl::Status& status) {
  if (status.code() != absl::StatusCode::kInternal && status.code() != absl::StatusCode::kUnknown) return status;
  return core::Error(absl::StatusCode::kInternal, "INTERNAL", "internal error; the server's log says which");
}

v1::ReloadFailure ToProto(const ReloadReport::Failure& failure) {
  const absl::Status told = WithoutInternals(failure.status);
  v1::ReloadFailure message;
  message.set_model(failure.model);
  message.set_setting(failure.setting);
  message.set_code(static_cast<std::int32_t>(told.code()));
  message.set_reason(core::ErrorReason(told));
  message.set_message(std::string(told.message()));
  return message;
}

v1::ReloadConfigResponse ToProto(const ReloadReport& report) {
  v1::ReloadConfigResponse response;
  for (const LoadedModel& model : report.loaded) *response.add_loaded() = ToProto(model);
  for (const LoadedModel& model : report.reloaded) *response.add_reloaded() = ToProto(model);
  for (const auto& failure : report.failures) *response.add_failures() = ToProto(failure);
  response.mutable_unloaded()->Add(report.unloaded.begin(), report.unloaded.end());
  response.mutable_unchanged()->Add(report.unchanged.begin(), report.unchanged.end());
  response.mutable_needs_restart()->Add(report.needs_restart.begin(), report.needs_restart.end());
  response.mutable_applied()->Add(report.applied.begin(), report.applied.end());
  return response;
}

}  // namespace

grpc::ServerUnaryReactor* AdminService::LoadModel(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* reply) {
  return DetachedUnary<v1::LoadModelRequest, v1::LoadModelResponse>::Start(
      backend_, &models_.loads, Method::kLoadModel, context, request, reply,
      [this](const auto& message, Time asked) -> absl::StatusOr<v1::LoadModelResponse> {
        const auto loaded = models_.control.LoadSince(message.name(), asked);
        if (!loaded.ok()) return loaded.status();
        v1::LoadModelResponse response;
        *response.mutable_model() = ToProto(*loaded);
        return response;
      });
}

grpc::ServerUnaryReactor* AdminService::UnloadModel(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return DetachedUnary<v1::UnloadModelRequest, v1::UnloadModelResponse>::Start(
      backend_, &models_.unloads, Method::kUnloadModel, context, request, reply,
      [this](const auto& message, Time /*asked*/) -> absl::StatusOr<v1::UnloadModelResponse> {
        if (absl::Status status = models_.control.Unload(message.name()); !status.ok()) return status;
        return v1::UnloadModelResponse();
      });
}

grpc::ServerUnaryReactor* AdminService::ReloadConfig(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return DetachedUnary<v1::ReloadConfigRequest, v1::ReloadConfigResponse>::Start(
      backend_, &models_.reloads, Method::kReloadConfig, context, request, reply,
      [this](const auto& /*message*/, Time /*asked*/) -> absl::StatusOr<v1::ReloadConfigResponse> {
        const auto report = models_.reload();
        if (!report.ok()) return report.status();
        return ToProto(*report);
      });
}

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
