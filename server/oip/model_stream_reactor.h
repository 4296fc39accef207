#ifndef EMBD_SERVER_OIP_MODEL_STREAM_REACTOR_H_
#define EMBD_SERVER_OIP_MODEL_STREAM_REACTOR_H_

#include "grpcpp/grpcpp.h"
#include "server/oip/context.h"

namespace embd::oip {

/// Answers one ModelStreamInfer call. The reactor deletes itself when gRPC is done with the call.
[[nodiscard]] grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* AnswerModelStream(
    Context* context, grpc::CallbackServerContext* call);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_MODEL_STREAM_REACTOR_H_
