#ifndef EMBD_SERVER_OIP_INFERENCE_SERVICE_H_
#define EMBD_SERVER_OIP_INFERENCE_SERVICE_H_

#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "server/oip/context.h"

namespace embd::oip {

/// inference.GRPCInferenceService with all of its calls raw: gRPC hands over bytes and takes bytes.
class RawInferenceService {
 private:
  using Calls = ::inference::GRPCInferenceService;
  using WithInference =
      Calls::WithRawCallbackMethod_ModelInfer<Calls::WithRawCallbackMethod_ModelStreamInfer<Calls::Service>>;
  using WithHealth = Calls::WithRawCallbackMethod_ServerLive<
      Calls::WithRawCallbackMethod_ServerReady<Calls::WithRawCallbackMethod_ModelReady<WithInference>>>;
  using WithDescriptions = Calls::WithRawCallbackMethod_ServerMetadata<Calls::WithRawCallbackMethod_ModelMetadata<
      Calls::WithRawCallbackMethod_ModelConfig<Calls::WithRawCallbackMethod_ModelStatistics<WithHealth>>>>;
  using WithRepository = Calls::WithRawCallbackMethod_RepositoryIndex<Calls::WithRawCallbackMethod_RepositoryModelLoad<
      Calls::WithRawCallbackMethod_RepositoryModelUnload<WithDescriptions>>>;
  using WithSharedMemory =
      Calls::WithRawCallbackMethod_SystemSharedMemoryStatus<Calls::WithRawCallbackMethod_SystemSharedMemoryRegister<
          Calls::WithRawCallbackMethod_SystemSharedMemoryUnregister<WithRepository>>>;
  using WithCudaSharedMemory =
      Calls::WithRawCallbackMethod_CudaSharedMemoryStatus<Calls::WithRawCallbackMethod_CudaSharedMemoryRegister<
          Calls::WithRawCallbackMethod_CudaSharedMemoryUnregister<WithSharedMemory>>>;

 public:
  using Base =
      Calls::WithRawCallbackMethod_TraceSetting<Calls::WithRawCallbackMethod_LogSettings<WithCudaSharedMemory>>;
};

/// The calls of inference.GRPCInferenceService; grpc_service.proto describes them. Requests are decoded, and refused,
/// by us.
///
/// Ownership: `context` outlives the service and every call. Thread safety: thread-safe.
class InferenceService final : public RawInferenceService::Base {
 public:
  explicit InferenceService(Context* context) : context_(context) {}

  grpc::ServerUnaryReactor* ServerLive(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ServerReady(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ModelReady(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ServerMetadata(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                          grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ModelConfig(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* ModelStatistics(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RepositoryIndex(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                            grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RepositoryModelLoad(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RepositoryModelUnload(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* SystemSharedMemoryStatus(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* SystemSharedMemoryRegister(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* SystemSharedMemoryUnregister(grpc::CallbackServerContext* context,
                                                         const grpc::ByteBuffer* request,
                                                         grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* CudaSharedMemoryStatus(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* CudaSharedMemoryRegister(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* CudaSharedMemoryUnregister(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request,
                                                       grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* TraceSetting(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                         grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* LogSettings(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* ModelStreamInfer(
      grpc::CallbackServerContext* context) override;

 private:
  Context* const context_;
};

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_INFERENCE_SERVICE_H_
