// What the calls leave in the statistics of the models.

#include "server/service/statistics.h"

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "embd/client/channel.h"
#include "embd/client/client.h"
#include "embd/client/shared_region.h"
#include "gmock/gmock.h"
#include "grpc/grpc.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "server/app/model_builder.h"
#include "server/service/admin_service.h"
#include "server/service/backend.h"
#include "server/service/embedding_service.h"
#include "tests/support/eventually.h"
#include "tests/support/no_control.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::Eventually;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::Not;

const client::CallOptions kWhole = {.chunks = client::Chunks::kNever};

class ModelStatistics : public ::testing::Test {
 protected:
  ModelStatistics() : folder_((std::filesystem::temp_directory_path() / "embd-statistics-XXXXXX").string()) {
    if (mkdtemp(folder_.data()) == nullptr) std::abort();
    // Else gRPC tidies up after each test, which may take it ten seconds.
    [[maybe_unused]] static const bool kept = (grpc_init(), true);
    backend_ = MakeBackend(folder_);
    app::TableBudget budget(std::int64_t{1} << 30);
    for (const config::ModelConfig& model :
         {testing::SmallModel("m", 50, 4, 64), testing::SmallModel("wide", 10, 256, 4096)}) {
      backend_->models.Put(app::BuildModel(model, &budget).value().model);
      backend_->statistics.Open(model.name, "1");
    }
    embedding_ = std::make_unique<service::EmbeddingService>(backend_.get());
    admin_ = std::make_unique<service::AdminService>(
        backend_.get(), service::AdminModels{.control = control_,
                                             .reload = [] { return service::ReloadReport(); },
                                             .loads = backend_->workers,
                                             .unloads = backend_->workers,
                                             .reloads = backend_->workers});
    grpc::ServerBuilder builder;
    builder.RegisterService(embedding_.get());
    builder.RegisterService(admin_.get());
    builder.AddListeningPort(absl::StrCat("unix:", folder_, "/socket"), grpc::InsecureServerCredentials());
    server_ = builder.BuildAndStart();
    channel_ = grpc::CreateChannel(absl::StrCat("unix:", folder_, "/socket"), grpc::InsecureChannelCredentials());
    stub_ = v1::EmbeddingService::NewStub(channel_);
  }
  ~ModelStatistics() override {
    server_->Shutdown(std::chrono::system_clock::now());
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  static std::unique_ptr<service::Backend> MakeBackend(const std::string& folder) {
    return std::unique_ptr<service::Backend>(new service::Backend{
        .limits = {.max_batch_size = 100, .max_sequence_length = 4096, .max_response_bytes = 64 << 20},
        .max_request_bytes = 1 << 20,
        .max_bytes_in_flight = 1 << 30,
        .buffers = service::ReplyBuffers::Create(1 << 30, 64 << 20),
        .regions = service::SharedRegions({.prefix = folder + "/embd-", .max_regions = 4, .max_bytes = 1 << 20}),
        .workers = service::WorkerPool(2),
        .diagnostics = service::WorkerPool(1)});
  }

  [[nodiscard]] client::Client Client() const { return client::FromChannel(channel_); }
  [[nodiscard]] service::ModelCounts Counts(const std::string& model) const { return backend_->statistics.Of(model); }

  static client::EmbedRequest Batch(std::int64_t batch_size, std::int64_t id = 1) {
    return {.model = "m",
            .ids = std::vector<std::int64_t>(static_cast<std::size_t>(2 * batch_size), id),
            .batch_size = batch_size,
            .sequence_length = 2};
  }

  // More rows than are composed on gRPC's threads.
  static client::EmbedRequest Large() {
    return {.model = "wide", .batch_size = 1, .sequence_length = 2048, .part = client::Part::kPosition};
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

  std::string folder_;
  std::unique_ptr<service::Backend> backend_;
  std::unique_ptr<service::EmbeddingService> embedding_;
  testing::NoControl control_;
  std::unique_ptr<service::AdminService> admin_;
  std::unique_ptr<grpc::Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::EmbeddingService::Stub> stub_;
};

MATCHER_P2(IsBatch, size, times, "") {
  *result_listener << "of size " << arg.size << ", " << arg.compute.count << " times";
  const auto count = static_cast<std::uint64_t>(times);
  return arg.size == size && arg.input.count == count && arg.compute.count == count && arg.output.count == count;
}

// That the parts were measured, and none of the time twice.
void ExpectPhasesFitTheTotal(const service::ModelCounts& counts) {
  for (const service::Duration& phase : {counts.queue, counts.input, counts.compute, counts.output}) {
    EXPECT_EQ(phase.count, counts.success.count);
  }
  for (const service::Duration& phase : {counts.input, counts.compute, counts.output}) EXPECT_GT(phase.sum.count(), 0);
  EXPECT_LE(counts.queue.sum + counts.input.sum + counts.compute.sum + counts.output.sum, counts.success.sum);
}

TEST_F(ModelStatistics, UnaryCallsCountWithTheRowsOfTheirBatches) {
  const client::Client client = Client();
  for (const std::int64_t batch_size : {1, 1, 3}) ASSERT_THAT(client.Embed(Batch(batch_size), kWhole), IsOk());

  const service::ModelCounts counts = Counts("m");
  EXPECT_EQ(counts.success.count, 3U);
  EXPECT_EQ(counts.fail.count, 0U);
  EXPECT_EQ(counts.rows, 5U);
  EXPECT_THAT(counts.by_batch_size, ElementsAre(IsBatch(1, 2), IsBatch(3, 1)));
  ExpectPhasesFitTheTotal(counts);
}

TEST_F(ModelStatistics, LargeRequestsAndThoseForPositionsAloneCountToo) {
  ASSERT_THAT(Client().Embed(Large(), kWhole), IsOk());

  const service::ModelCounts counts = Counts("wide");
  EXPECT_THAT(counts.by_batch_size, ElementsAre(IsBatch(1, 1)));
  EXPECT_GT(counts.queue.sum.count(), 0) << "it waits for a worker";
  ExpectPhasesFitTheTotal(counts);
}

TEST_F(ModelStatistics, RefusedRequestsAreFailuresOfTheModelTheyName) {
  client::EmbedRequest version = Batch(1);
  version.model_version = "9";
  EXPECT_THAT(Client().Embed(Batch(1, 50), kWhole), ReasonIs("ID_OUT_OF_RANGE"));
  EXPECT_THAT(Client().Embed(version, kWhole), ReasonIs("VERSION_NOT_FOUND"));

  const service::ModelCounts counts = Counts("m");
  EXPECT_EQ(counts.fail.count, 2U);
  EXPECT_GT(counts.fail.sum.count(), 0);
  EXPECT_EQ(counts.success.count, 0U);
  EXPECT_EQ(counts.last_inference_ms, 0);
}

TEST_F(ModelStatistics, UnknownModelCountsNowhere) {
  client::EmbedRequest request = Batch(1);
  request.model = "nobody";
  EXPECT_THAT(Client().Embed(request, kWhole), ReasonIs("MODEL_NOT_FOUND"));

  for (const char* const name : {"m", "wide", "nobody"}) {
    EXPECT_EQ(Counts(name).fail.count + Counts(name).success.count, 0U) << name;
  }
}

TEST_F(ModelStatistics, BytesThatAreNoRequestCountNowhere) {
  v1::EmbedRequest named;
  named.set_model("m");
  const grpc::Slice slice(named.SerializeAsString() + "\x12\x7F");  // ids that are cut short
  const grpc::ByteBuffer bytes(&slice, 1);
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  grpc::ByteBuffer reply;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, "/embd.v1.EmbeddingService/Embed", {}, &bytes, &reply,
                 [&](grpc::Status status) { ended.set_value(std::move(status)); });

  EXPECT_EQ(ended.get_future().get().error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(Counts("m").fail.count, 0U);
}

TEST_F(ModelStatistics, EachItemOfAStreamIsARequest) {
  auto stream = Client().OpenStream();
  ASSERT_THAT(stream, IsOk());
  client::EmbedRequest unknown = Batch(1);
  unknown.model = "nobody";
  const std::string long_id(2000, 'x');
  ASSERT_THAT(stream->Send(Batch(2), ""), IsOk());
  ASSERT_THAT(stream->Send(Batch(1, 50), ""), IsOk());
  ASSERT_THAT(stream->Send(unknown, ""), IsOk());
  ASSERT_THAT(stream->Send(Batch(2), long_id), IsOk());
  ASSERT_THAT(stream->Send(Large(), ""), IsOk());
  ASSERT_THAT(stream->Send(Batch(3), ""), IsOk());
  ASSERT_THAT(stream->CloseSending(), IsOk());
  for (int i = 0; i < 6; ++i) ASSERT_THAT(stream->Receive(), IsOk());

  const service::ModelCounts counts = Counts("m");
  EXPECT_EQ(counts.rows, 5U);
  EXPECT_EQ(counts.fail.count, 2U) << "the id out of range, and the request_id";
  EXPECT_THAT(counts.by_batch_size, ElementsAre(IsBatch(2, 1), IsBatch(3, 1)));
  ExpectPhasesFitTheTotal(counts);
  EXPECT_EQ(Counts("wide").success.count, 1U);
  ExpectPhasesFitTheTotal(Counts("wide"));
}

TEST_F(ModelStatistics, CallInChunksIsOneExecution) {
  grpc::ClientContext context;
  const auto reader = stub_->EmbedChunks(&context, Long());
  int messages = 0;
  for (v1::EmbedChunksResponse message; reader->Read(&message);) ++messages;
  ASSERT_TRUE(reader->Finish().ok());
  ASSERT_GT(messages, 1);

  const service::ModelCounts counts = Counts("wide");
  EXPECT_EQ(counts.rows, 12U);
  EXPECT_EQ(counts.fail.count, 0U);
  EXPECT_THAT(counts.by_batch_size, ElementsAre(IsBatch(12, 1)));
  ExpectPhasesFitTheTotal(counts);
}

TEST_F(ModelStatistics, RefusedCallInChunksIsAFailure) {
  v1::EmbedChunksRequest request = Long();
  request.mutable_request()->set_sequence_length(4097);
  grpc::ClientContext context;
  const auto reader = stub_->EmbedChunks(&context, request);

  EXPECT_FALSE(reader->Finish().ok());
  EXPECT_EQ(Counts("wide").fail.count, 1U);
}

TEST_F(ModelStatistics, CallInChunksThatIsGivenUpIsAFailure) {
  grpc::ClientContext context;
  const auto reader = stub_->EmbedChunks(&context, Long());
  v1::EmbedChunksResponse message;
  ASSERT_TRUE(reader->Read(&message));
  context.TryCancel();
  reader->Finish();

  EXPECT_TRUE(Eventually([this] { return Counts("wide").fail.count == 1; }));
  EXPECT_EQ(Counts("wide").success.count, 0U);
}

// The server learns at some time of its own that a caller has left, so one that did is tried until it was in time.
TEST_F(ModelStatistics, CallerThatLeavesBeforeItsReplyIsMadeIsAFailure) {
  // Is planned on the workers, too.
  client::EmbedRequest long_one = Large();
  long_one.part = client::Part::kComposed;
  long_one.batch_size = 10;
  long_one.ids.assign(10 * 2048, 1);
  std::uint64_t callers = 0, failures = 0;
  for (const client::EmbedRequest& request : {Large(), long_one})
    EXPECT_TRUE(Eventually([&] {
      std::promise<void> release;
      const std::shared_future<void> released = release.get_future().share();
      for (int i = 0; i < backend_->workers.threads(); ++i) backend_->workers.Add([released] { released.wait(); });
      ++callers;
      EXPECT_THAT(Client().Embed(request, {.timeout = absl::Milliseconds(20), .chunks = client::Chunks::kNever}),
                  StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
      release.set_value();
      EXPECT_TRUE(Eventually([&] { return Counts("wide").success.count + Counts("wide").fail.count == callers; }));
      return Counts("wide").fail.count > std::exchange(failures, Counts("wide").fail.count);
    }));
}

TEST_F(ModelStatistics, ResultInSharedMemoryCounts) {
  const std::string path = folder_ + "/embd-region";
  std::ofstream(path).close();
  std::filesystem::resize_file(path, 4096);
  const client::Client client = Client();
  ASSERT_THAT(client.RegisterRegion({.name = "r", .path = path, .byte_size = 4096}), IsOk());
  client::EmbedRequest request = Batch(3);
  request.output_target = {.region = "r", .byte_size = 3 * 2 * 4 * 4};
  client::EmbedRequest unknown_region = request;
  unknown_region.output_target->region = "other";

  ASSERT_THAT(client.EmbedToRegion(request), IsOk());
  EXPECT_THAT(client.EmbedToRegion(unknown_region), ReasonIs("REGION_NOT_FOUND"));

  const service::ModelCounts counts = Counts("m");
  EXPECT_THAT(counts.by_batch_size, ElementsAre(IsBatch(3, 1)));
  EXPECT_EQ(counts.fail.count, 1U);
  ExpectPhasesFitTheTotal(counts);
}

TEST_F(ModelStatistics, LastInferenceMovesOnWithEachSuccess) {
  ASSERT_THAT(Client().Embed(Batch(1), kWhole), IsOk());
  const std::int64_t first = Counts("m").last_inference_ms;
  ASSERT_GT(first, 0);

  EXPECT_TRUE(Eventually([&] {
    EXPECT_THAT(Client().Embed(Batch(1), kWhole), IsOk());
    return Counts("m").last_inference_ms > first;
  }));
}

TEST_F(ModelStatistics, ConcurrentCallersLoseNoCount) {
  constexpr int kCallers = 4, kCalls = 200;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < kCallers; ++caller) {
    callers.emplace_back([this] {
      const client::Client client = Client();
      for (int i = 0; i < kCalls; ++i) {
        EXPECT_THAT(client.Embed(Batch(1 + i % 2), kWhole), IsOk());
        EXPECT_THAT(client.Embed(Batch(1, 50), kWhole), Not(IsOk()));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();

  const service::ModelCounts counts = Counts("m");
  EXPECT_THAT(counts.by_batch_size, ElementsAre(IsBatch(1, kCallers * kCalls / 2), IsBatch(2, kCallers * kCalls / 2)));
  EXPECT_EQ(counts.fail.count, static_cast<std::uint64_t>(kCallers * kCalls));
  ExpectPhasesFitTheTotal(counts);
}

}  // namespace
}  // namespace embd
