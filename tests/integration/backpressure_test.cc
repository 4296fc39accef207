// What replies hold while callers are slow or gone, seen from inside: the services on a gRPC server of the test's own.

#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "server/app/model_builder.h"
#include "server/service/backend.h"
#include "server/service/embedding_service.h"
#include "tests/support/eventually.h"
#include "tests/support/served_models.h"

namespace embd {
namespace {

using ::embd::testing::Eventually;

constexpr std::int64_t kReplyBytes = 4 << 20;  // (1, 4096, 256) float32
constexpr std::int64_t kStreamBound = 16 << 20;

class Backpressure : public ::testing::Test {
 protected:
  Backpressure() {
    app::TableBudget budget(std::int64_t{1} << 30);
    backend_->models.Put(app::BuildModel(testing::SmallModel("m", 10, 256, 4096), &budget).value().model);
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = v1::EmbeddingService::NewStub(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials(), arguments));
  }
  ~Backpressure() override { server_->Shutdown(std::chrono::system_clock::now()); }

  static v1::EmbedRequest Request() {
    v1::EmbedRequest request;
    request.set_model("m");
    request.set_part(v1::PART_POSITION);  // needs no ids: many requests fit into the connection's window
    request.set_batch_size(1);
    request.set_sequence_length(4096);
    return request;
  }

  std::int64_t InFlight() const { return backend_->buffers->bytes_in_flight(); }

  const std::unique_ptr<service::Backend> backend_{new service::Backend{
      .limits = {.max_batch_size = 100, .max_sequence_length = 4096, .max_response_bytes = 1 << 30},
      .max_request_bytes = 1 << 20,
      .max_bytes_in_flight = 1 << 30,
      .buffers = service::ReplyBuffers::Create(1 << 30, 64 << 20),
      .workers = service::WorkerPool(2),
      .diagnostics = service::WorkerPool(1)}};
  service::EmbeddingService service_{backend_.get()};
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::EmbeddingService::Stub> stub_;
};

TEST_F(Backpressure, StreamStopsReadingForAStalledReaderAndGoesOnWithIt) {
  constexpr int kRequests = 40;
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const auto stream = stub_->EmbedStream(&context);
  v1::EmbedStreamRequest item;
  *item.mutable_request() = Request();
  for (int i = 0; i < kRequests; ++i) ASSERT_TRUE(stream->Write(item));
  ASSERT_TRUE(stream->WritesDone());
  ASSERT_TRUE(Eventually([this] { return InFlight() >= kStreamBound; }));

  // Other calls go on meanwhile; by the last of them the stream would hold far more, had it not stopped.
  std::int64_t most = InFlight();
  for (int i = 0; i < 40; ++i) {
    grpc::ClientContext other;
    v1::EmbedResponse reply;
    ASSERT_TRUE(stub_->Embed(&other, Request(), &reply).ok());
    most = std::max(most, InFlight());
  }
  EXPECT_LE(most, kStreamBound + 4 * kReplyBytes) << "beside the bound: one reply of the stream, what is just being "
                                                     "sent, and the other call's";

  v1::EmbedStreamResponse answer;
  for (int i = 0; i < kRequests; ++i) {
    ASSERT_TRUE(stream->Read(&answer));
    ASSERT_EQ(answer.index(), i);
    ASSERT_TRUE(answer.has_response());
  }
  EXPECT_FALSE(stream->Read(&answer));
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
}

TEST_F(Backpressure, NothingStaysInFlightAfterCallsAreCancelled) {
  v1::EmbedRequest request = Request();
  request.set_batch_size(8);
  for (int i = 0; i < 20; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(i));
    v1::EmbedResponse reply;
    (void)stub_->Embed(&context, request, &reply);
  }
  for (int i = 0; i < 5; ++i) {
    grpc::ClientContext context;
    const auto stream = stub_->EmbedStream(&context);
    v1::EmbedStreamRequest item;
    *item.mutable_request() = Request();
    for (int j = 0; j < 10; ++j) ASSERT_TRUE(stream->Write(item));
    v1::EmbedStreamResponse answer;
    ASSERT_TRUE(stream->Read(&answer));
    context.TryCancel();
    EXPECT_EQ(stream->Finish().error_code(), grpc::StatusCode::CANCELLED);
  }

  EXPECT_GT(backend_->buffers->allocations(), 0);
  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
}

}  // namespace
}  // namespace embd
