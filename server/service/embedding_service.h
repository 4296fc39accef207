#ifndef EMBD_SERVER_SERVICE_EMBEDDING_SERVICE_H_
#define EMBD_SERVER_SERVICE_EMBEDDING_SERVICE_H_

#include "embd/v1/embedding.grpc.pb.h"
#include "server/service/backend.h"
#include "server/service/raw_methods.h"

namespace embd::service {

/// embd.v1.EmbeddingService as gRPC sees it; what the calls do and refuse is said in embedding.proto.
///
/// Ownership: `backend` outlives the service. Thread safety: thread-safe.
class EmbeddingService final
    : public RawMethods<
          v1::EmbeddingService::Service, v1::EmbeddingService::WithRawCallbackMethod_Embed,
          v1::EmbeddingService::WithRawCallbackMethod_EmbedStream,
          v1::EmbeddingService::WithRawCallbackMethod_EmbedChunks, v1::EmbeddingService::WithRawCallbackMethod_Rotate,
          v1::EmbeddingService::WithRawCallbackMethod_RotaryTable,
          v1::EmbeddingService::WithRawCallbackMethod_EmbedBags, v1::EmbeddingService::WithRawCallbackMethod_Gradient,
          v1::EmbeddingService::WithRawCallbackMethod_Project> {
 public:
  explicit EmbeddingService(Backend* backend) : backend_(backend) {}

  grpc::ServerUnaryReactor* Embed(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* reply) override;
  grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* EmbedStream(
      grpc::CallbackServerContext* context) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* EmbedChunks(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* Rotate(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                   grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* RotaryTable(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* EmbedBags(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                      grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Gradient(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                     grpc::ByteBuffer* reply) override;
  grpc::ServerUnaryReactor* Project(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                    grpc::ByteBuffer* reply) override;

 private:
  Backend* const backend_;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBEDDING_SERVICE_H_
