#ifndef EMBD_TESTS_INTEGRATION_OIP_OIP_SERVER_H_
#define EMBD_TESTS_INTEGRATION_OIP_OIP_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "proto/wire/status.h"
#include "tests/integration/oip/infer_request.h"
#include "tests/support/identity_servable.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd::testing {

/// A server of the embedding model "tiny", 10 rows of width 4 and 8 positions, with at most 16 rows a batch, and of
/// "identity_fp32"; and a stub of the protocol on a TCP channel.
class OipServer : public ::testing::Test {
 protected:
  OipServer() : OipServer(Config()) {}
  explicit OipServer(const config::ServerConfig& config)
      : served_(config, {std::make_shared<IdentityServable>()}),
        channel_(grpc::CreateCustomChannel(served_.tcp_address(), grpc::InsecureChannelCredentials(), Arguments())),
        stub_(::inference::GRPCInferenceService::NewStub(channel_)) {}

  static config::ServerConfig Config() {
    config::ServerConfig config;
    config.models = {SmallModel("tiny", 10, 4, 8)};
    config.limits.max_batch_size = 16;
    return config;
  }

  absl::StatusOr<InferResponse> Infer(const InferRequest& request) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    InferResponse response;
    const grpc::Status status = stub_->ModelInfer(&context, request, &response);
    if (!status.ok()) return wire::FromGrpcStatus(status);
    return response;
  }

  /// Expects a refusal that matches, after which the server goes on.
  void ExpectRefused(const InferRequest& request,
                     const ::testing::Matcher<const absl::StatusOr<InferResponse>&>& matcher) {
    EXPECT_THAT(Infer(request), matcher);
    EXPECT_THAT(Infer(IdsRequest()), IsOk()) << "the server lives";
  }

  [[nodiscard]] ServedModels& served() { return served_; }
  [[nodiscard]] const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  [[nodiscard]] ::inference::GRPCInferenceService::Stub& stub() { return *stub_; }

 private:
  static grpc::ChannelArguments Arguments() {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    return arguments;
  }

  ServedModels served_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<::inference::GRPCInferenceService::Stub> stub_;
};

/// INVALID_ARGUMENT with that reason, and a message that matches.
inline auto Refused(const char* reason, const ::testing::Matcher<std::string>& message) {
  return ::testing::AllOf(StatusIs(absl::StatusCode::kInvalidArgument, message), ReasonIs(reason));
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_OIP_OIP_SERVER_H_
