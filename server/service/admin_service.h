#ifndef EMBD_SERVER_SERVICE_ADMIN_SERVICE_H_
#define EMBD_SERVER_SERVICE_ADMIN_SERVICE_H_

#include "embd/v1/admin.grpc.pb.h"
#include "server/service/backend.h"

namespace embd::service {

/// embd.v1.AdminService as gRPC sees it; what the calls do and refuse is said in admin.proto.
///
/// Ownership: `backend` outlives the service. Thread safety: thread-safe.
class AdminService final : public v1::AdminService::WithRawCallbackMethod_RegisterRegion<
                               v1::AdminService::WithRawCallbackMethod_UnregisterRegion<
                                   v1::AdminService::WithRawCallbackMethod_ListRegions<v1::AdminService::Service>>> {
 public:
  explicit AdminService(Backend* backend) : backend_(backend) {}

  grpc::ServerUnaryReactor* RegisterRegion(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* UnregisterRegion(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                             grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ListRegions(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;

 private:
  Backend* const backend_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_ADMIN_SERVICE_H_
