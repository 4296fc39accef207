#ifndef EMBD_SERVER_SERVICE_EMBED_CHUNKS_REACTOR_H_
#define EMBD_SERVER_SERVICE_EMBED_CHUNKS_REACTOR_H_

#include "grpcpp/grpcpp.h"
#include "server/service/backend.h"

namespace embd::service {

/// Answers one EmbedChunks call. One message is composed and sent at a time, so that a call holds no more than what it
/// composes and what gRPC still sends of the message before. Large requests are planned, and large messages composed,
/// on the workers.
[[nodiscard]] grpc::ServerWriteReactor<grpc::ByteBuffer>* AnswerEmbedChunks(Backend* backend,
                                                                            grpc::CallbackServerContext* context,
                                                                            const grpc::ByteBuffer* request);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_CHUNKS_REACTOR_H_
