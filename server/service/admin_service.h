#ifndef EMBD_SERVER_SERVICE_ADMIN_SERVICE_H_
#define EMBD_SERVER_SERVICE_ADMIN_SERVICE_H_

#include <functional>
#include <utility>

#include "absl/status/statusor.h"
#include "embd/v1/admin.grpc.pb.h"
#include "server/service/backend.h"
#include "server/service/model_control.h"
#include "server/service/worker_pool.h"

namespace embd::service {

/// What the calls about models and configuration work with. What it refers to outlives the service.
struct AdminModels {
  ModelControl& control;
  /// Reads the configuration again and follows it. Blocks; thread-safe. Errors: those of AdminService.ReloadConfig.
  std::function<absl::StatusOr<ReloadReport>()> reload;
  // Pools of their own, for loads may take minutes, and unloading another model must not wait for them. They end before
  // what the others use.
  WorkerPool& loads;
  WorkerPool& unloads;
  WorkerPool& reloads;
};

/// embd.v1.AdminService as gRPC sees it; what the calls do and refuse is said in admin.proto.
///
/// Ownership: `backend` outlives the service. Thread safety: thread-safe.
class AdminService final
    : public v1::AdminService::WithRawCallbackMethod_LoadModel<v1::AdminService::WithRawCallbackMethod_UnloadModel<
          v1::AdminService::WithRawCallbackMethod_ReloadConfig<v1::AdminService::WithRawCallbackMethod_RegisterRegion<
              v1::AdminService::WithRawCallbackMethod_UnregisterRegion<
                  v1::AdminService::WithRawCallbackMethod_ListRegions<v1::AdminService::Service>>>>>> {
 public:
  AdminService(Backend* backend, AdminModels models) : backend_(backend), models_(std::move(models)) {}

  grpc::ServerUnaryReactor* LoadModel(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* UnloadModel(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ReloadConfig(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RegisterRegion(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* UnregisterRegion(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListRegions(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;

 private:
  Backend* const backend_;
  const AdminModels models_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_ADMIN_SERVICE_H_
