#include "server/service/embedding_service.h"

#include "server/service/embed_reactor.h"
#include "server/service/embed_stream_reactor.h"

namespace embd::service {

grpc::ServerUnaryReactor* EmbeddingService::Embed(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                                  grpc::ByteBuffer* reply) {
  return AnswerEmbed(backend_, context, request, reply);
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* EmbeddingService::EmbedStream(
    grpc::CallbackServerContext* context) {
  return AnswerEmbedStream(backend_, context);
}

}  // namespace embd::service
