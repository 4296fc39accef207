#include "server/service/embedding_service.h"

#include "server/service/bags_answer.h"
#include "server/service/embed_chunks_reactor.h"
#include "server/service/embed_stream_reactor.h"
#include "server/service/embed_work.h"
#include "server/service/gradient_answer.h"
#include "server/service/pooled_unary.h"
#include "server/service/project.h"
#include "server/service/raw_unary.h"
#include "server/service/rotary_table_answer.h"
#include "server/service/rotate_answer.h"
#include "server/service/shared_work.h"

namespace embd::service {

grpc::ServerUnaryReactor* EmbeddingService::Embed(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* reply) {
  return AnswerPooled<EmbedWork>(backend_, Method::kEmbed, context, request, reply);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* EmbeddingService::EmbedStream(
    grpc::CallbackServerContext* context) {
  return AnswerEmbedStream(backend_, context);
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* EmbeddingService::EmbedChunks(grpc::CallbackServerContext* context,
                                                                          const grpc::ByteBuffer* request) {
  return AnswerEmbedChunks(backend_, context, request);
}

grpc::ServerUnaryReactor* EmbeddingService::Rotate(grpc::CallbackServerContext* context,
                                                   const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return AnswerPooled<RotateWork>(backend_, Method::kRotate, context, request, reply);
}

grpc::ServerUnaryReactor* EmbeddingService::RotaryTable(grpc::CallbackServerContext* context,
                                                        const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return AnswerPooled<RotaryTableWork>(backend_, Method::kRotaryTable, context, request, reply);
}

grpc::ServerUnaryReactor* EmbeddingService::EmbedBags(grpc::CallbackServerContext* context,
                                                      const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return AnswerPooled<EmbedBagsWork>(backend_, Method::kEmbedBags, context, request, reply);
}

grpc::ServerUnaryReactor* EmbeddingService::Gradient(grpc::CallbackServerContext* context,
                                                     const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::GradientRequest, v1::GradientResponse>::Start(
      backend_, Method::kGradient, context, request, reply, Length::kMedium,
      [this](const auto& message, const Call& call) {
        return AnswerGradient(*backend_, message, [&call] { return call.Interrupted(); });
      });
}

grpc::ServerUnaryReactor* EmbeddingService::Project(grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return RawUnary<v1::ProjectRequest, v1::ProjectResponse>::Start(
      backend_, Method::kProject, context, request, reply, Length::kMedium,
      [this](const auto& message, const Call& call) {
        return AnswerProject(backend_->models, message, backend_->limits.max_response_bytes,
                             [&](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
                               return ShareWork(backend_->workers, count, piece, [&] { return call.Interrupted(); });
                             });
      });
}

}  // namespace embd::service
