// Calls whose callers do not wait for the answer, seen from inside: the service on a gRPC server of the test's own. The
// cases of Triton's L0_client_timeout and L0_request_cancellation.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "server/app/model_builder.h"
#include "server/oip/context.h"
#include "server/oip/inference_service.h"
#include "tests/integration/oip/infer_request.h"
#include "tests/support/eventually.h"
#include "tests/support/identity_servable.h"
#include "tests/support/served_models.h"

namespace embd {
namespace {

using ::embd::testing::AddRaw;
using ::embd::testing::Eventually;
using ::embd::testing::InferRequest;
using ::embd::testing::InferResponse;
using ::embd::testing::RequestFor;

// Computes until it is interrupted.
class EndlessInference final : public testing::IdentityInference {
 public:
  EndlessInference(oip::InputTensor input, std::atomic<int>* begun)
      : IdentityInference(std::move(input)), begun_(*begun) {}

  [[nodiscard]] bool IsLarge() const override { return true; }
  [[nodiscard]] absl::Status Compute(service::Backend& /*backend*/, std::size_t /*index*/, std::span<std::byte> /*out*/,
                                     core::Stores /*stores*/,
                                     absl::FunctionRef<absl::Status()> interrupted) const override {
    ++begun_;
    while (true) {
      if (absl::Status status = interrupted(); !status.ok()) return status;
      std::this_thread::yield();
    }
  }

 private:
  std::atomic<int>& begun_;
};

class EndlessServable final : public testing::IdentityServable {
 public:
  EndlessServable() : IdentityServable("endless") {}
  [[nodiscard]] absl::StatusOr<std::unique_ptr<oip::Inference>> Plan(
      const service::Backend& /*backend*/, std::vector<oip::InputTensor> inputs,
      const std::vector<oip::OutputRequest>& /*outputs*/) const override {
    return std::make_unique<EndlessInference>(std::move(inputs.front()), &begun_);
  }

  [[nodiscard]] int begun() const { return begun_; }

 private:
  mutable std::atomic<int> begun_ = 0;
};

// Never loads nor unloads.
class NoControl final : public service::ModelControl {
 public:
  [[nodiscard]] bool is_explicit() const override { return false; }
  [[nodiscard]] std::vector<Entry> Index() const override { return {}; }
  [[nodiscard]] absl::Status Load(const std::string& /*name*/) override { return absl::UnavailableError("off"); }
  [[nodiscard]] absl::Status Unload(const std::string& /*name*/) override { return absl::UnavailableError("off"); }
};

class Interruption : public ::testing::Test {
 protected:
  Interruption() {
    app::TableBudget budget(std::int64_t{1} << 30);
    backend_->models.Put(app::BuildModel(testing::SmallModel("m", 10, 256, 4096), &budget).value().model);
    backend_->statistics.Open("m", "1");
    backend_->statistics.Open("endless", "1");
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    channel_ =
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments);
    stub_ = ::inference::GRPCInferenceService::NewStub(channel_);
  }
  ~Interruption() override { server_->Shutdown(std::chrono::system_clock::now()); }

  static InferRequest EndlessRequest() {
    InferRequest request = RequestFor("endless");
    AddRaw(&request, "INPUT0", "FP32", {1, 1 << 20}, std::vector<float>(1 << 20));
    return request;
  }

  static InferRequest LargeRequest() {
    InferRequest request = RequestFor("m");
    AddRaw(&request, "input_ids", "INT32", {8, 4096}, std::vector<std::int32_t>(8 * 4096));
    return request;
  }

  grpc::Status Infer(const InferRequest& request, std::chrono::milliseconds deadline = std::chrono::minutes(1)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    InferResponse response;
    return stub_->ModelInfer(&context, request, &response);
  }

  std::uint64_t Failures(const std::string& model) const { return backend_->statistics.Of(model).fail.count; }
  std::int64_t InFlight() const { return backend_->buffers->bytes_in_flight(); }

  const std::unique_ptr<service::Backend> backend_{new service::Backend{
      .limits = {.max_batch_size = 100, .max_sequence_length = 4096, .max_response_bytes = 1 << 30},
      .max_request_bytes = 64 << 20,
      .max_bytes_in_flight = 1 << 30,
      .buffers = service::ReplyBuffers::Create(1 << 30, 64 << 20),
      .workers = service::WorkerPool(2),
      .diagnostics = service::WorkerPool(1)}};
  const std::shared_ptr<EndlessServable> endless_ = std::make_shared<EndlessServable>();
  NoControl control_;
  oip::Context context_{
      .backend = *backend_,
      .control = control_,
      .options = {},
      .stopping = stopping_,
      .servables = oip::Servables(&backend_->models, &control_, {.limits = backend_->limits}, {endless_})};
  oip::InferenceService service_{&context_};
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<::inference::GRPCInferenceService::Stub> stub_;
};

TEST_F(Interruption, DeadlineOfTheCallEndsTheComputingAndIsCountedAsAFailure) {
  const grpc::Status status = Infer(EndlessRequest(), std::chrono::seconds(1));

  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(endless_->begun(), 1);
  EXPECT_TRUE(Eventually([this] { return Failures("endless") == 1; }));
  EXPECT_EQ(backend_->statistics.Of("endless").success.count, 0u);
  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
  EXPECT_TRUE(Infer(LargeRequest()).ok()) << "the server lives";
}

TEST_F(Interruption, DeadlineOfOneMillisecondForALargeBatchIsExceeded) {
  const InferRequest request = LargeRequest();
  ASSERT_TRUE(Infer(request).ok());

  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Infer(request, std::chrono::milliseconds(1)).error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  }

  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
  EXPECT_TRUE(Infer(request).ok()) << "the server lives";
}

TEST_F(Interruption, TimeoutOfTheRequestEndsTheComputingAndIsCountedAsAFailure) {
  InferRequest request = EndlessRequest();
  (*request.mutable_parameters())["timeout"].set_int64_param(100'000);

  const grpc::Status status = Infer(request);

  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(status.error_message(), "the timeout of the request has passed");
  EXPECT_EQ(Failures("endless"), 1u);
  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
}

TEST_F(Interruption, CancelledCallEndsTheComputingAndIsCountedAsAFailure) {
  grpc::ClientContext context;
  grpc::CompletionQueue queue;
  const auto call = stub_->AsyncModelInfer(&context, EndlessRequest(), &queue);
  InferResponse response;
  grpc::Status status;
  call->Finish(&response, &status, nullptr);
  ASSERT_TRUE(Eventually([this] { return endless_->begun() == 1; }));
  EXPECT_GE(InFlight(), 4 << 20) << "the reply's memory is taken";

  context.TryCancel();

  void* tag = nullptr;
  bool ok = false;
  ASSERT_TRUE(queue.Next(&tag, &ok));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::CANCELLED);
  EXPECT_TRUE(Eventually([this] { return Failures("endless") == 1; }));
  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
  EXPECT_TRUE(Infer(LargeRequest()).ok()) << "the server lives";
}

TEST_F(Interruption, RefusedRequestIsCountedAsAFailureOfTheModelItNames) {
  InferRequest request = LargeRequest();
  request.set_raw_input_contents(0, "");

  EXPECT_EQ(Infer(request).error_code(), grpc::StatusCode::INVALID_ARGUMENT);

  EXPECT_EQ(Failures("m"), 1u);
  EXPECT_EQ(backend_->statistics.Of("m").success.count, 0u);
}

}  // namespace
}  // namespace embd
