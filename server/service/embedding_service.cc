#include "server/service/embedding_service.h"

#include "server/service/embed_chunks_reactor.h"
#include "server/service/embed_stream_reactor.h"
#include "server/service/embed_work.h"
#include "server/service/pooled_unary.h"
#include "server/service/rotary_table_answer.h"
#include "server/service/rotate_answer.h"

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

}  // namespace embd::service
