#ifndef EMBD_TESTS_INTEGRATION_OIP_INSIDE_SERVER_H_
#define EMBD_TESTS_INTEGRATION_OIP_INSIDE_SERVER_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "server/app/model_builder.h"
#include "server/oip/context.h"
#include "server/oip/inference_service.h"
#include "tests/support/no_control.h"
#include "tests/support/served_models.h"

namespace embd::testing {

/// The service on a gRPC server of the test's own, which can look inside: the model "m" of width 256 with 4096
/// positions, and others.
class InsideServer : public ::testing::Test {
 protected:
  explicit InsideServer(const std::vector<std::shared_ptr<const oip::Servable>>& others)
      : context_{.backend = *backend_,
                 .control = control_,
                 .loads = loads_,
                 .unloads = loads_,
                 .ready = ready_,
                 .stopping = stopping_,
                 .options = {},
                 .servables = oip::Servables(&backend_->models, {.limits = backend_->limits}, others)} {
    app::TableBudget budget(std::int64_t{1} << 30);
    backend_->models.Put(app::BuildModel(SmallModel("m", 10, 256, 4096), &budget).value().model);
    backend_->statistics.Open("m", "1");
    for (const auto& each : others) backend_->statistics.Open(each->name(), each->version());
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    builder.SetMaxReceiveMessageSize(-1);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = ::inference::GRPCInferenceService::NewStub(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments));
  }
  ~InsideServer() override { server_->Shutdown(std::chrono::system_clock::now()); }

  [[nodiscard]] service::Backend& backend() { return *backend_; }
  [[nodiscard]] ::inference::GRPCInferenceService::Stub& stub() { return *stub_; }
  /// What the server does when it begins to drain.
  void BeginToDrain() { stopping_ = true; }

 private:
  const std::unique_ptr<service::Backend> backend_{new service::Backend{
      .limits = {.max_batch_size = 100, .max_sequence_length = 4096, .max_response_bytes = 1 << 30},
      .max_request_bytes = 64 << 20,
      .max_bytes_in_flight = 1 << 30,
      .buffers = service::ReplyBuffers::Create(1 << 30, 64 << 20),
      .workers = service::WorkerPool(2),
      .diagnostics = service::WorkerPool(1)}};
  NoControl control_;
  service::WorkerPool loads_{1};
  const std::atomic<bool> ready_ = true;
  std::atomic<bool> stopping_ = false;
  oip::Context context_;
  oip::InferenceService service_{&context_};
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<::inference::GRPCInferenceService::Stub> stub_;
};

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_OIP_INSIDE_SERVER_H_
