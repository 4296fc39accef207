#include "server/oip/inference_service.h"

#include "server/oip/infer_work.h"
#include "server/service/pooled_unary.h"

namespace embd::oip {

grpc::ServerUnaryReactor* InferenceService::ModelInfer(grpc::CallbackServerContext* context,
                                                       const grpc::ByteBuffer* request, grpc::ByteBuffer* reply) {
  return service::AnswerPooled<InferWork>(context_, "ModelInfer", context, request, reply);
}

}  // namespace embd::oip
