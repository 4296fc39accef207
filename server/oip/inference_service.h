#ifndef EMBD_SERVER_OIP_INFERENCE_SERVICE_H_
#define EMBD_SERVER_OIP_INFERENCE_SERVICE_H_

#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "server/oip/context.h"

namespace embd::oip {

/// The calls of inference.GRPCInferenceService; grpc_service.proto describes them. All are raw: requests are decoded,
/// and refused, by us.
///
/// Ownership: `context` outlives the service and every call. Thread safety: thread-safe.
class InferenceService final : public ::inference::GRPCInferenceService::WithRawCallbackMethod_ModelInfer<
                                   ::inference::GRPCInferenceService::Service> {
 public:
  explicit InferenceService(Context* context) : context_(context) {}

  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;

 private:
  Context* const context_;
};

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_INFERENCE_SERVICE_H_
