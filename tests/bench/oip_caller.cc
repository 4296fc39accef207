// A caller that knows the Open Inference Protocol only; it takes the elements from the reply's slices, as embd::client
// does, so that what differs is the server's work.

#include <array>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.pb.h"
#include "proto/wire/payload_scan.h"
#include "tests/bench/caller.h"
#include "tests/bench/gpt2_sized.h"

namespace embd::bench {
namespace {

constexpr char kMethod[] = "/inference.GRPCInferenceService/ModelInfer";
constexpr std::chrono::seconds kTimeout(60);

class OipCaller final : public Caller {
 public:
  OipCaller(const std::shared_ptr<grpc::Channel>& channel, const LoadOptions& options)
      : Caller(options.TensorBytes()), stub_(channel), ids_(options.Ids()), options_(options) {}

  absl::Status Call(std::span<std::byte> out) override {
    const std::string encoded = Request().SerializeAsString();
    const grpc::Slice slice(encoded);
    const grpc::ByteBuffer request(&slice, 1);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + kTimeout);
    grpc::CompletionQueue queue;
    const auto call = stub_.PrepareUnaryCall(&context, kMethod, request, &queue);
    grpc::ByteBuffer reply;
    grpc::Status status;
    call->StartCall();
    call->Finish(&reply, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    queue.Shutdown();
    while (queue.Next(&tag, &ok)) {
    }
    if (!status.ok()) return absl::UnavailableError(status.error_message());
    return Read(&reply, out);
  }

 private:
  [[nodiscard]] ::inference::ModelInferRequest Request() const {
    ::inference::ModelInferRequest request;
    request.set_model_name(kModelName);
    auto& input = *request.add_inputs();
    input.set_name("input_ids");
    input.set_datatype("INT64");
    input.add_shape(options_.batch);
    input.add_shape(options_.tokens);
    request.add_raw_input_contents(ids_.data(), ids_.size() * sizeof(ids_[0]));
    if (options_.float16) (*request.mutable_parameters())["output_datatype"].set_string_param("FP16");
    return request;
  }

  [[nodiscard]] static absl::Status Read(grpc::ByteBuffer* reply, std::span<std::byte> out) {
    std::array<wire::Level, 1> levels = {{{::inference::ModelInferResponse::kRawOutputContentsFieldNumber}}};
    wire::Payload payload;
    if (absl::Status status = wire::ScanAll(reply, levels, &payload); !status.ok()) return status;
    ::inference::ModelInferResponse response;
    if (!response.ParseFromString(levels[0].others) || response.outputs_size() != 1) {
      return absl::InternalError("the reply has not one output");
    }
    if (payload.size != out.size()) return WrongSize(payload.size, out.size());
    return wire::CopyPayload(reply, payload, out);
  }

  grpc::GenericStub stub_;
  const std::vector<std::int64_t> ids_;
  const LoadOptions options_;
};

}  // namespace

MadeCaller MakeOipCaller(const LoadOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto channel = grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(), arguments);
  return std::make_unique<OipCaller>(channel, options);
}

}  // namespace embd::bench
