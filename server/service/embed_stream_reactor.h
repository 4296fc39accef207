#ifndef EMBD_SERVER_SERVICE_EMBED_STREAM_REACTOR_H_
#define EMBD_SERVER_SERVICE_EMBED_STREAM_REACTOR_H_

#include "grpcpp/grpcpp.h"
#include "server/service/backend.h"

namespace embd::service {

/// Answers one EmbedStream call. Requests are answered one after the other, in order, while the answers before are
/// being sent. Reading stops once 64 answers, or 16 MiB of them, wait for a slow reader: what waits is at most 16 MiB
/// and one reply.
[[nodiscard]] grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AnswerEmbedStream(
    Backend* backend, grpc::CallbackServerContext* context);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_STREAM_REACTOR_H_
