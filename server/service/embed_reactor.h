#ifndef EMBD_SERVER_SERVICE_EMBED_REACTOR_H_
#define EMBD_SERVER_SERVICE_EMBED_REACTOR_H_

#include "grpcpp/grpcpp.h"
#include "server/service/backend.h"

namespace embd::service {

/// Answers one Embed call: small ones at once, large ones on the workers. `request` and `reply` live until gRPC is
/// done.
[[nodiscard]] grpc::ServerUnaryReactor* AnswerEmbed(Backend* backend, grpc::CallbackServerContext* context,
                                                    const grpc::ByteBuffer* request, grpc::ByteBuffer* reply);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_EMBED_REACTOR_H_
