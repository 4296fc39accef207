// gRPC's floor: answers Embed as embd does, but composes nothing. The reply of a shape is made once, by the first
// request of that shape, and every later request of the same length gets the same slices again. So it tells how much of
// embd's time is gRPC's and the kernel's. Requests of one length are taken for requests of one shape: the load client
// sends no others.
//
//   floor_server [unix:PATH]      prints {"listen": [ADDRESS, …]} once it serves

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "embd/v1/embedding.grpc.pb.h"
#include "grpcpp/grpcpp.h"
#include "proto/wire/frame.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/threads/mutex.h"
#include "server/service/describe.h"
#include "server/service/embed_request.h"
#include "tests/bench/gpt2_sized.h"

namespace embd::bench {
namespace {

class FloorService final : public v1::EmbeddingService::WithRawCallbackMethod_Embed<v1::EmbeddingService::Service> {
 public:
  grpc::ServerUnaryReactor* Embed(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* reply) override {
    grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
    const std::size_t length = request->Length();
    {
      const core::MutexLock lock(&mutex_);
      auto found = replies_.find(length);
      if (found == replies_.end()) found = replies_.emplace(length, MakeReply(*request)).first;
      *reply = found->second;  // shares the slices
    }
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }

 private:
  grpc::ByteBuffer MakeReply(const grpc::ByteBuffer& request) {
    grpc::ByteBuffer bytes(request);
    v1::EmbedRequest message;
    if (!grpc::SerializationTraits<v1::EmbedRequest>::Deserialize(&bytes, &message).ok()) std::abort();
    const core::EmbedLimits limits = {
        .max_batch_size = 4096, .max_sequence_length = 4096, .max_response_bytes = 1 << 30};
    const auto plan = core::EmbedPlan::Create(model_, service::ToEmbedInput(&message).value(), limits).value();
    std::string elements(plan.byte_size(), '\0');
    plan.Compose(0, plan.row_count(), std::as_writable_bytes(std::span(elements)));
    v1::EmbedResponse response;
    response.set_model(model_->name());
    response.set_model_version(model_->version());
    response.set_generation(model_->generation());
    response.set_checksum(model_->checksum());
    v1::Tensor tensor;
    tensor.set_data_type(service::ToDataType(plan.output_type()));
    for (const std::int64_t extent : plan.output_shape()) tensor.add_shape(extent);
    const std::string header = wire::FrameHeader(
        {{response, v1::EmbedResponse::kEmbeddingsFieldNumber}, {tensor, v1::Tensor::kDataFieldNumber}},
        elements.size());
    const grpc::Slice slices[] = {grpc::Slice(header), grpc::Slice(elements)};
    return {slices, 2};
  }

  const std::shared_ptr<const core::Model> model_ = Gpt2Sized();
  core::Mutex mutex_;
  std::map<std::size_t, grpc::ByteBuffer> replies_ ABSL_GUARDED_BY(mutex_);  // by the request's length
};

int Serve(const std::string& unix_address) {
  FloorService service;
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(-1);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  if (!unix_address.empty()) builder.AddListeningPort(unix_address, grpc::InsecureServerCredentials());
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr) {
    std::fprintf(stderr, "floor_server: cannot listen\n");
    return 1;
  }
  std::printf("{\"listen\": [\"127.0.0.1:%d\", \"%s\"]}\n", port, unix_address.c_str());
  std::fflush(stdout);
  while (true) pause();
}

}  // namespace
}  // namespace embd::bench

int main(int argc, char** argv) {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as embd does
  return embd::bench::Serve(argc > 1 ? argv[1] : "");
}
