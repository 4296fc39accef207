#include <cstring>
#include <memory>
#include <utility>

#include "grpcpp/grpcpp.h"
#include "repeated_float.grpc.pb.h"
#include "tests/bench/caller.h"
#include "tests/bench/gpt2_sized.h"

namespace embd::bench {
namespace {

// The list stays in the message: nobody is charged for a copy that a caller may not need.
class FloatsCaller final : public Caller {
 public:
  FloatsCaller(const std::shared_ptr<grpc::Channel>& channel, const LoadOptions& options)
      : Caller(options.TensorBytes()), stub_(RepeatedFloat::NewStub(channel)) {
    const std::vector<std::int64_t> ids = options.Ids();
    request_.set_model(kModelName);
    request_.mutable_ids()->Assign(ids.begin(), ids.end());
    request_.set_batch_size(options.batch);
    request_.set_sequence_length(options.tokens);
  }

  absl::Status Call(std::span<std::byte> out) override {
    if (absl::Status status = Ask(out.size()); !status.ok()) return status;
    std::memcpy(out.data(), reply_.values().data(), out.size());
    return absl::OkStatus();
  }

  absl::Status Run(Clock::time_point end, std::vector<float>* microseconds) override {
    for (int calls = 0; calls < kLeastCalls || Clock::now() < end; ++calls) {
      const Clock::time_point start = Clock::now();
      if (absl::Status status = Ask(out().size()); !status.ok()) return status;
      microseconds->push_back(MicrosecondsSince(start));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Ask(std::size_t bytes) {
    grpc::ClientContext context;
    const grpc::Status status = stub_->Embed(&context, request_, &reply_);
    if (!status.ok()) return absl::UnavailableError(status.error_message());
    const std::size_t got = static_cast<std::size_t>(reply_.values_size()) * sizeof(float);
    return got == bytes ? absl::OkStatus() : WrongSize(got, bytes);
  }

  const std::unique_ptr<RepeatedFloat::Stub> stub_;
  v1::EmbedRequest request_;
  Floats reply_;
};

}  // namespace

MadeCaller MakeFloatsCaller(const LoadOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  auto channel = grpc::CreateCustomChannel(options.address, grpc::InsecureChannelCredentials(), arguments);
  return std::make_unique<FloatsCaller>(channel, options);
}

}  // namespace embd::bench
