// Calls whose callers do not wait for the answer, seen from inside; the cases of Triton's L0_client_timeout and
// L0_request_cancellation.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "grpcpp/grpcpp.h"
#include "tests/integration/oip/infer_request.h"
#include "tests/integration/oip/inside_server.h"
#include "tests/support/eventually.h"
#include "tests/support/identity_servable.h"

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

class Interruption : public testing::InsideServer {
 protected:
  Interruption() : Interruption(std::make_shared<EndlessServable>()) {}
  explicit Interruption(const std::shared_ptr<EndlessServable>& endless) : InsideServer({endless}), endless_(endless) {}

  static InferRequest EndlessRequest() {
    InferRequest request = RequestFor("endless");
    AddRaw(&request, "INPUT0", "FP32", {1, 1 << 20}, std::vector<float>(1 << 20));
    return request;
  }

  // For a reply of 32 MiB.
  static InferRequest LargeRequest() {
    InferRequest request = RequestFor("m");
    AddRaw(&request, "input_ids", "INT32", {8, 4096}, std::vector<std::int32_t>(8 * 4096));
    return request;
  }

  grpc::Status Infer(const InferRequest& request, std::chrono::milliseconds deadline = std::chrono::minutes(1)) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + deadline);
    InferResponse response;
    return stub().ModelInfer(&context, request, &response);
  }

  std::uint64_t Failures(const std::string& model) { return backend().statistics.Of(model).fail.count; }
  std::int64_t InFlight() { return backend().buffers->bytes_in_flight(); }

  const std::shared_ptr<EndlessServable> endless_;
};

TEST_F(Interruption, DeadlineOfTheCallEndsTheComputingAndIsCountedAsAFailure) {
  const grpc::Status status = Infer(EndlessRequest(), std::chrono::seconds(1));

  EXPECT_EQ(status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  EXPECT_EQ(endless_->begun(), 1);
  EXPECT_TRUE(Eventually([this] { return Failures("endless") == 1; }));
  EXPECT_EQ(backend().statistics.Of("endless").success.count, 0u);
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
  const auto call = stub().AsyncModelInfer(&context, EndlessRequest(), &queue);
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
  EXPECT_EQ(backend().statistics.Of("m").success.count, 0u);
}

}  // namespace
}  // namespace embd
