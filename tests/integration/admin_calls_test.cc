// LoadModel, UnloadModel and ReloadConfig as their callers see them.

#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "embd/client/error.h"
#include "embd/v1/admin.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "server/service/admin_service.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using client::LoadedModel;
using client::ReloadFailure;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

config::ServerConfig Explicit(std::vector<config::ModelConfig> models) {
  config::ServerConfig config;
  config.explicit_model_control = true;
  config.models = std::move(models);
  return config;
}

client::EmbedRequest Request(const std::string& model) {
  return {.model = model, .ids = {1, 2}, .batch_size = 1, .sequence_length = 2};
}

TEST(AdminCalls, LoadTellsWhatRepliesThenSay) {
  const testing::ServedModels served(Explicit({testing::SmallModel("m", 10, 8, 0)}));
  const client::Client client = served.TcpClient();

  ASSERT_OK_AND_ASSIGN(const LoadedModel loaded, client.LoadModel("m"));

  EXPECT_EQ(loaded.name, "m");
  EXPECT_EQ(loaded.version, "1");
  EXPECT_EQ(loaded.generation, 2);
  ASSERT_OK_AND_ASSIGN(const client::Embedding reply, client.Embed(Request("m")));
  EXPECT_EQ(reply.info().generation, loaded.generation);
  EXPECT_EQ(reply.info().checksum, loaded.checksum);
}

TEST(AdminCalls, UnloadTakesOutUntilLoad) {
  const testing::ServedModels served(Explicit({testing::SmallModel("m", 10, 8, 0)}));
  const client::Client client = client::Client::Connect(served.tcp_address(), {.max_attempts = 1}).value();

  EXPECT_THAT(client.UnloadModel("m"), IsOk());
  EXPECT_THAT(client.Embed(Request("m")), ReasonIs("MODEL_NOT_LOADED"));
  EXPECT_EQ(client.CheckHealth("").value(), client::HealthStatus::kServing);
  EXPECT_THAT(client.LoadModel("m"), IsOk());
  EXPECT_THAT(client.Embed(Request("m")), IsOk());
}

TEST(AdminCalls, LoadAndUnloadNeedExplicitControlAndAKnownName) {
  config::ServerConfig off = Explicit({testing::SmallModel("m", 10, 8, 0)});
  off.explicit_model_control = false;
  const testing::ServedModels served(off);
  const auto refused = AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, _), ReasonIs("MODEL_CONTROL_OFF"));
  EXPECT_THAT(served.TcpClient().LoadModel("m"), refused);
  EXPECT_THAT(served.TcpClient().UnloadModel("m"), refused);

  const testing::ServedModels other(Explicit({testing::SmallModel("m", 10, 8, 0)}));
  EXPECT_THAT(other.TcpClient().LoadModel("n"), ReasonIs("MODEL_NOT_FOUND"));
  EXPECT_THAT(other.TcpClient().UnloadModel("n"), ReasonIs("MODEL_NOT_FOUND"));
}

class ReloadCalls : public ::testing::Test {
 protected:
  ReloadCalls() {
    now_ = Explicit({testing::SmallModel("m", 10, 8, 0)});
    server_ = Serve();
    client_ = std::make_unique<client::Client>(client::Client::Connect(server_->addresses()[0]).value());
  }

  std::unique_ptr<app::EmbeddingServer> Serve() {
    now_.listen = {"127.0.0.1:0"};
    return app::EmbeddingServer::Start(now_, {},
                                       [this]() -> absl::StatusOr<config::ServerConfig> {
                                         if (!fault_.ok()) return fault_;
                                         return now_;
                                       })
        .value();
  }

  config::ServerConfig now_;
  absl::Status fault_;
  std::unique_ptr<app::EmbeddingServer> server_;
  std::unique_ptr<client::Client> client_;
};

TEST_F(ReloadCalls, EveryKindOfChangeIsTold) {
  now_.models = {testing::SmallModel("m", 11, 8, 0),
                 testing::SmallModel("n", 10, 8, 0),
                 {.name = "bad", .token = config::TableFile{.path = "/nonexistent/t.npy"}}};
  now_.limits.max_batch_size = 2;
  now_.log.level = "warn";

  ASSERT_OK_AND_ASSIGN(const client::ReloadReport report, client_->ReloadConfig());

  EXPECT_THAT(report.reloaded, ElementsAre(AllOf(Field(&LoadedModel::name, "m"), Field(&LoadedModel::generation, 2))));
  EXPECT_THAT(report.loaded, ElementsAre(AllOf(Field(&LoadedModel::name, "n"), Field(&LoadedModel::generation, 1))));
  ASSERT_THAT(report.failures, ElementsAre(Field(&ReloadFailure::model, "bad")));
  EXPECT_THAT(report.failures[0].status, AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nonexistent/t.npy")),
                                               ReasonIs("FILE_NOT_FOUND")));
  EXPECT_THAT(report.needs_restart, ElementsAre("server.limits.max_batch_size"));
  EXPECT_THAT(report.applied, ElementsAre("server.log.level"));

  now_.models = {testing::SmallModel("n", 10, 8, 0)};
  now_.log.level = "info";
  ASSERT_OK_AND_ASSIGN(const client::ReloadReport second, client_->ReloadConfig());
  EXPECT_THAT(second.unloaded, ElementsAre("m", "bad"));
  EXPECT_THAT(second.unchanged, ElementsAre("n"));
  EXPECT_THAT(client_->Embed(Request("m")), ReasonIs("MODEL_NOT_FOUND"));
}

TEST_F(ReloadCalls, WrongConfigurationIsToldAndChangesNothing) {
  fault_ = client::ErrorWithReason(absl::StatusCode::kInvalidArgument, "INVALID_CONFIG", "embd.yaml:3: no");
  now_.models.clear();

  EXPECT_THAT(client_->ReloadConfig(),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, "embd.yaml:3: no"), ReasonIs("INVALID_CONFIG")));
  EXPECT_THAT(client_->Embed(Request("m")), IsOk());
}

TEST(ReloadCall, IsRefusedWhereTheConfigurationCannotBeReadAgain) {
  const testing::ServedModels served(Explicit({testing::SmallModel("m", 10, 8, 0)}));

  EXPECT_THAT(served.TcpClient().ReloadConfig(),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, _), ReasonIs("RELOAD_OFF")));
}

// Loads that take as long as the test wants.
class SlowControl final : public service::ModelControl {
 public:
  [[nodiscard]] bool is_explicit() const override { return true; }
  [[nodiscard]] std::vector<Entry> Index() const override { return {}; }
  [[nodiscard]] absl::StatusOr<service::LoadedModel> LoadSince(const std::string& name, Clock::time_point) override {
    begun.set_value();
    go_on.get_future().wait();
    return service::LoadedModel{.name = name};
  }
  [[nodiscard]] absl::Status Unload(const std::string&) override { return absl::OkStatus(); }

  std::promise<void> begun, go_on;
};

class SlowLoad : public ::testing::Test {
 protected:
  SlowLoad() {
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    server_ = builder.BuildAndStart();
    stub_ = v1::AdminService::NewStub(server_->InProcessChannel({}));
  }

  grpc::Status Load(grpc::ClientContext* context) {
    v1::LoadModelRequest request;
    request.set_name("m");
    v1::LoadModelResponse response;
    return stub_->LoadModel(context, request, &response);
  }

  const std::unique_ptr<service::Backend> backend_{
      new service::Backend{.max_request_bytes = 1 << 20,
                           .gate = service::Gate({.max_calls = 100, .max_request_bytes = 1 << 20}),
                           .buffers = service::ReplyBuffers::Create(1 << 20, 1 << 20),
                           .workers = service::WorkerPool(1),
                           .diagnostics = service::WorkerPool(1)}};
  SlowControl control_;
  std::unique_ptr<service::WorkerPool> workers_ = std::make_unique<service::WorkerPool>(1);
  service::AdminService service_{backend_.get(),
                                 {.control = control_,
                                  .reload = [] { return service::ReloadReport(); },
                                  .loads = *workers_,
                                  .unloads = *workers_,
                                  .reloads = *workers_}};
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::AdminService::Stub> stub_;
};

TEST_F(SlowLoad, GoesOnWithoutItsCaller) {
  grpc::ClientContext context;
  std::thread caller([&] { EXPECT_EQ(Load(&context).error_code(), grpc::StatusCode::CANCELLED); });
  control_.begun.get_future().wait();

  context.TryCancel();
  caller.join();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(20));  // waits for no call
  EXPECT_EQ(backend_->gate.calls(), 0);

  control_.go_on.set_value();
  workers_.reset();
}

TEST_F(SlowLoad, DoesNotHoldTheEndOfTheServer) {
  grpc::ClientContext context;
  std::thread caller([&] { EXPECT_FALSE(Load(&context).ok()); });
  control_.begun.get_future().wait();

  server_->Shutdown(std::chrono::system_clock::now());
  caller.join();

  control_.go_on.set_value();
  workers_.reset();
}

}  // namespace
}  // namespace embd
