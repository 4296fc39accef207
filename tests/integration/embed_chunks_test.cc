// EmbedChunks over a connection: the same bits and the same errors as Embed, and nothing left behind by a call that
// ends early.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "proto/wire/status.h"
#include "server/app/model_builder.h"
#include "server/service/backend.h"
#include "server/service/embedding_service.h"
#include "tests/support/eventually.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::Eventually;

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::testing::ElementsAre;

constexpr std::int64_t kDim = 19;

class EmbedChunksCall : public ::testing::Test {
 protected:
  EmbedChunksCall() {
    app::TableBudget budget(std::int64_t{1} << 30);
    for (const config::ModelConfig& model :
         {testing::SmallModel("m", 50, kDim, 64), testing::SmallModel("wide", 10, 256, 4096)}) {
      backend_->models.Put(app::BuildModel(model, &budget).value().model);
    }
    grpc::ServerBuilder builder;
    builder.RegisterService(&service_);
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = builder.BuildAndStart();
    stub_ = v1::EmbeddingService::NewStub(
        grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials()));
  }
  ~EmbedChunksCall() override { server_->Shutdown(std::chrono::system_clock::now()); }

  // What a call brought.
  struct Received {
    absl::Status status;
    v1::EmbedChunksHeader header;
    std::string data;
    int messages = 0;
    bool last = false;
  };

  Received Chunks(const v1::EmbedChunksRequest& request) {
    Received received;
    grpc::ClientContext context;
    const auto reader = stub_->EmbedChunks(&context, request);
    std::int64_t next_row = request.first_row();
    for (v1::EmbedChunksResponse message; reader->Read(&message); ++received.messages) {
      EXPECT_EQ(message.has_header(), received.messages == 0);
      EXPECT_EQ(message.first_row(), next_row);
      EXPECT_FALSE(received.last);
      if (message.has_header()) received.header = message.header();
      next_row += message.row_count();
      received.data += message.data();
      received.last = message.last();
    }
    received.status = wire::FromGrpcStatus(reader->Finish());
    return received;
  }

  absl::StatusOr<v1::EmbedResponse> Unary(const v1::EmbedRequest& request) {
    grpc::ClientContext context;
    v1::EmbedResponse response;
    const grpc::Status status = stub_->Embed(&context, request, &response);
    if (!status.ok()) return wire::FromGrpcStatus(status);
    return response;
  }

  static v1::EmbedChunksRequest Batch(std::int64_t batch, std::int64_t tokens) {
    v1::EmbedChunksRequest request;
    v1::EmbedRequest& inner = *request.mutable_request();
    inner.set_model("m");
    inner.set_batch_size(batch);
    inner.set_sequence_length(tokens);
    for (std::int64_t i = 0; i < batch * tokens; ++i) inner.add_ids(i * 7 % 50);
    return request;
  }

  // 48 MiB: far more than a connection takes up before its reader reads.
  static v1::EmbedChunksRequest Long() {
    v1::EmbedChunksRequest request;
    request.mutable_request()->set_model("wide");
    request.mutable_request()->set_part(v1::PART_POSITION);
    request.mutable_request()->set_batch_size(12);
    request.mutable_request()->set_sequence_length(4096);
    return request;
  }

  std::int64_t InFlight() const { return backend_->buffers->bytes_in_flight(); }

  const std::unique_ptr<service::Backend> backend_{new service::Backend{
      .limits = {.max_batch_size = 100, .max_sequence_length = 4096, .max_response_bytes = 1 << 20},
      .max_request_bytes = 1 << 20,
      .max_bytes_in_flight = 1 << 30,
      .buffers = service::ReplyBuffers::Create(1 << 30, 64 << 20),
      .workers = service::WorkerPool(2),
      .diagnostics = service::WorkerPool(1)}};
  service::EmbeddingService service_{backend_.get()};
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1::EmbeddingService::Stub> stub_;
};

TEST_F(EmbedChunksCall, RowsAndHeaderAreThoseOfEmbed) {
  v1::EmbedRequest ragged;
  ragged.set_model("m");
  for (int i = 0; i < 16; ++i) ragged.add_ids(i);
  for (const int length : {3, 0, 7, 1, 5}) ragged.add_row_lengths(length);
  v1::EmbedRequest packed = ragged;
  packed.set_ragged_layout(v1::RAGGED_LAYOUT_PACKED);
  v1::EmbedRequest left = ragged;
  left.set_padding_side(v1::PADDING_SIDE_LEFT);
  left.set_sequence_length(9);
  v1::EmbedRequest narrow = Batch(3, 31).request();
  narrow.set_output_type(v1::DATA_TYPE_BFLOAT16);
  v1::EmbedRequest warned = Batch(1, 2).request();
  warned.set_part(v1::PART_TOKEN);
  warned.add_attention_mask(1);
  warned.add_attention_mask(1);
  for (const v1::EmbedRequest& inner : {Batch(3, 31).request(), ragged, packed, left, narrow, warned}) {
    ASSERT_OK_AND_ASSIGN(const v1::EmbedResponse expected, Unary(inner));
    for (const std::int64_t max_chunk_bytes : {0, 1, 76, 77, 500, 1 << 20}) {
      SCOPED_TRACE(inner.ShortDebugString() + " by " + std::to_string(max_chunk_bytes));
      v1::EmbedChunksRequest request;
      *request.mutable_request() = inner;
      request.set_max_chunk_bytes(max_chunk_bytes);

      const Received received = Chunks(request);

      ASSERT_THAT(received.status, IsOk());
      EXPECT_TRUE(received.last);
      EXPECT_EQ(received.data, expected.embeddings().data());
      v1::EmbedResponse described;
      described.set_model(received.header.model());
      described.set_model_version(received.header.model_version());
      described.set_generation(received.header.generation());
      described.set_checksum(received.header.checksum());
      *described.mutable_row_lengths() = received.header.row_lengths();
      *described.mutable_warnings() = received.header.warnings();
      described.mutable_embeddings()->set_data_type(received.header.data_type());
      *described.mutable_embeddings()->mutable_shape() = received.header.shape();
      described.mutable_embeddings()->set_data(received.data);
      EXPECT_EQ(described.SerializeAsString(), expected.SerializeAsString());
      EXPECT_EQ(received.header.total_bytes(), static_cast<std::int64_t>(received.data.size()));
    }
  }
}

TEST_F(EmbedChunksCall, FirstRowSkipsTheRowsBefore) {
  v1::EmbedChunksRequest request = Batch(2, 10);
  request.set_max_chunk_bytes(200);
  const std::string whole = Chunks(request).data;
  for (const std::int64_t first_row : {1, 13, 19, 20}) {
    request.set_first_row(first_row);

    const Received received = Chunks(request);

    ASSERT_THAT(received.status, IsOk());
    EXPECT_EQ(received.data, whole.substr(static_cast<std::size_t>(first_row * kDim * 4)));
    EXPECT_EQ(received.header.total_rows(), 20);
    EXPECT_TRUE(received.last);
  }
}

TEST_F(EmbedChunksCall, EmptyBatchIsOneMessageWithoutRows) {
  const Received received = Chunks(Batch(0, 3));

  ASSERT_THAT(received.status, IsOk());
  EXPECT_EQ(received.messages, 1);
  EXPECT_TRUE(received.last);
  EXPECT_THAT(received.header.shape(), ElementsAre(0, 3, kDim));
}

TEST_F(EmbedChunksCall, LimitOfRepliesDoesNotHold) {
  const v1::EmbedChunksRequest request = Long();
  EXPECT_THAT(Unary(request.request()), ReasonIs("RESPONSE_TOO_LARGE"));

  const Received received = Chunks(request);

  ASSERT_THAT(received.status, IsOk());
  EXPECT_EQ(received.data.size(), std::size_t{48} << 20);
  EXPECT_LE(backend_->buffers->allocations(), 8) << "a call's buffers are used again";
}

TEST_F(EmbedChunksCall, BlocksOfSeveralMebibytesComeFromTheWorkers) {
  v1::EmbedChunksRequest request = Long();
  const std::string expected = Chunks(request).data;
  request.set_max_chunk_bytes(3 << 20);

  const Received received = Chunks(request);

  ASSERT_THAT(received.status, IsOk());
  EXPECT_EQ(received.messages, 16);
  EXPECT_TRUE(received.data == expected);
}

TEST_F(EmbedChunksCall, RefusalsAreThoseOfEmbed) {
  const auto changed = [](void (*change)(v1::EmbedRequest*)) {
    v1::EmbedRequest request = Batch(2, 3).request();
    change(&request);
    return request;
  };
  for (const v1::EmbedRequest& inner : {
           changed([](auto* request) { request->set_model("nobody"); }),
           changed([](auto* request) { request->set_model_version("9"); }),
           changed([](auto* request) { request->set_ids(4, 50); }),
           changed([](auto* request) { request->add_ids(1); }),
           changed([](auto* request) { request->set_batch_size(101); }),
           changed([](auto* request) { request->set_output_type(v1::DATA_TYPE_INT64); }),
           changed([](auto* request) { request->set_part(static_cast<v1::Part>(77)); }),
           changed([](auto* request) { request->add_token_type_ids(0); }),
           changed([](auto* request) { request->add_position_offsets(64); }),
       }) {
    SCOPED_TRACE(inner.ShortDebugString());
    const absl::Status expected = Unary(inner).status();
    v1::EmbedChunksRequest request;
    *request.mutable_request() = inner;

    const Received received = Chunks(request);

    ASSERT_FALSE(expected.ok());
    EXPECT_EQ(received.status, expected) << "code, text and reason";
    EXPECT_EQ(received.messages, 0);
  }
}

TEST_F(EmbedChunksCall, CallIsServedWhileItsReaderPausesAndHoldsLittle) {
  grpc::ClientContext context;
  const auto reader = stub_->EmbedChunks(&context, Long());
  v1::EmbedChunksResponse message;
  ASSERT_TRUE(reader->Read(&message));

  // Other calls go on meanwhile.
  for (int i = 0; i < 20; ++i) ASSERT_THAT(Unary(Batch(1, 10).request()), IsOk());

  EXPECT_LE(InFlight(), 4 << 20) << "of 48 MiB";
  std::int64_t rows = message.row_count();
  while (reader->Read(&message)) rows += message.row_count();
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(rows, 12 * 4096);
  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
}

TEST_F(EmbedChunksCall, NothingStaysInFlightAfterCallsEndEarly) {
  for (const std::int64_t max_chunk_bytes : {0, 2 << 20}) {
    for (int messages = 0; messages < 3; ++messages) {
      grpc::ClientContext context;
      v1::EmbedChunksRequest request = Long();
      request.set_max_chunk_bytes(max_chunk_bytes);
      const auto reader = stub_->EmbedChunks(&context, request);
      v1::EmbedChunksResponse message;
      for (int i = 0; i < messages; ++i) ASSERT_TRUE(reader->Read(&message));
      context.TryCancel();
      EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::CANCELLED);
    }
  }

  EXPECT_TRUE(Eventually([this] { return InFlight() == 0; })) << InFlight();
}

TEST_F(EmbedChunksCall, DeadlineEndsACallWhoseReaderDoesNotRead) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(200));
  const auto reader = stub_->EmbedChunks(&context, Long());
  v1::EmbedChunksResponse message;
  (void)reader->Read(&message);

  // Not until then is anything more read.
  EXPECT_TRUE(Eventually([this, &context] {
    return std::chrono::system_clock::now() > context.deadline() && InFlight() == 0;
  })) << InFlight();
  while (reader->Read(&message)) {
  }
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
}

}  // namespace
}  // namespace embd
