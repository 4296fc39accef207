// A server that is live but not ready yet, and what makes it ready.

#include <memory>
#include <string>

#include "embd/client/channel.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::HealthStatus;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

class StartTest : public ::testing::Test {
 protected:
  void Listen(std::vector<config::ModelConfig> models) {
    config::ServerConfig config;
    config.listen = {"127.0.0.1:0"};
    config.models = std::move(models);
    server_ = app::EmbeddingServer::Listen(config).value();
    // A plain channel: those of Connect send no call to a server that is not serving.
    const auto channel = grpc::CreateChannel(server_->addresses()[0], grpc::InsecureChannelCredentials());
    client_ = std::make_unique<client::Client>(client::FromChannel(channel));
    stub_ = inference::GRPCInferenceService::NewStub(channel);
  }

  absl::Status Embed(const std::string& model) {
    return client_->Embed({.model = model, .ids = {1}, .batch_size = 1, .sequence_length = 1}).status();
  }

  grpc::Status Infer(const std::string& model) {
    grpc::ClientContext context;
    inference::ModelInferRequest request;
    request.set_model_name(model);
    inference::ModelInferResponse response;
    return stub_->ModelInfer(&context, request, &response);
  }

  bool ServerReady() {
    grpc::ClientContext context;
    inference::ServerReadyResponse response;
    EXPECT_TRUE(stub_->ServerReady(&context, {}, &response).ok());
    return response.ready();
  }

  bool ServerLive() {
    grpc::ClientContext context;
    inference::ServerLiveResponse response;
    EXPECT_TRUE(stub_->ServerLive(&context, {}, &response).ok());
    return response.live();
  }

  HealthStatus HealthOf(const std::string& service) { return client_->CheckHealth(service).value(); }

  std::unique_ptr<app::EmbeddingServer> server_;
  std::unique_ptr<client::Client> client_;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub_;
};

config::ModelConfig Missing(const std::string& name) {
  return {.name = name, .required = false, .token = config::TableFile{.path = "/nonexistent/table.npy"}};
}

TEST_F(StartTest, ServerIsLiveButNotReadyBeforeItsModelsAreLoaded) {
  Listen({testing::SmallModel("m", 10, 8, 0)});

  EXPECT_TRUE(ServerLive());
  EXPECT_FALSE(ServerReady());
  for (const char* const service : {"", "m", "embd.v1.EmbeddingService", "inference.GRPCInferenceService"}) {
    EXPECT_EQ(HealthOf(service), HealthStatus::kNotServing) << service;
  }
}

TEST_F(StartTest, CallsForAModelThatIsNotLoadedYetAreUnavailableByBothProtocols) {
  Listen({testing::SmallModel("m", 10, 8, 0)});

  EXPECT_THAT(Embed("m"), AllOf(StatusIs(absl::StatusCode::kUnavailable, "model \"m\" is not loaded yet"),
                                ReasonIs("MODEL_LOADING")));
  const grpc::Status infer = Infer("m");
  EXPECT_EQ(infer.error_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(infer.error_message(), "Request for unknown model: 'm' is not ready: model \"m\" is not loaded yet");
  EXPECT_THAT(Embed("n"), ReasonIs("MODEL_NOT_FOUND"));
}

TEST_F(StartTest, ServerIsReadyOnceTheRequiredModelsAreThere) {
  Listen({Missing("other"), testing::SmallModel("m", 10, 8, 0)});
  HealthStatus when_ready = HealthStatus::kUnknown;

  ASSERT_THAT(server_->LoadModels([&] { when_ready = HealthOf(""); }), IsOk());

  EXPECT_EQ(when_ready, HealthStatus::kServing);
  EXPECT_TRUE(ServerReady());
  EXPECT_EQ(HealthOf("m"), HealthStatus::kServing);
  EXPECT_THAT(Embed("m"), IsOk());
}

TEST_F(StartTest, ModelThatIsNotRequiredAndCannotBeLoadedIsNamedWithTheReason) {
  Listen({Missing("other"), testing::SmallModel("m", 10, 8, 0)});
  ASSERT_THAT(server_->LoadModels([] {}), IsOk());

  EXPECT_EQ(HealthOf("other"), HealthStatus::kNotServing);
  EXPECT_THAT(Embed("other"), ReasonIs("MODEL_NOT_LOADED"));
  EXPECT_EQ(Infer("other").error_code(), grpc::StatusCode::UNAVAILABLE);
  grpc::ClientContext context;
  inference::RepositoryIndexResponse index;
  ASSERT_TRUE(stub_->RepositoryIndex(&context, {}, &index).ok());
  EXPECT_EQ(index.models(1).name(), "other");
  EXPECT_EQ(index.models(1).state(), "UNAVAILABLE");
  EXPECT_THAT(index.models(1).reason(), HasSubstr("/nonexistent/table.npy"));
}

TEST_F(StartTest, ServerThatIsShutDownFirstNeverBecomesReady) {
  Listen({testing::SmallModel("m", 10, 8, 0)});
  server_->Shutdown(absl::ZeroDuration());

  EXPECT_THAT(server_->LoadModels([] { ADD_FAILURE() << "ready"; }), ReasonIs("STOPPING"));
  EXPECT_FALSE(server_->IsLoading());
}

}  // namespace
}  // namespace embd
