// Loading and unloading while the server answers.

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "embd/v1/embedding.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "tests/support/eventually.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using client::HealthStatus;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kDim = 64;

config::ServerConfig Explicit(std::vector<config::ModelConfig> models) {
  config::ServerConfig config;
  config.explicit_model_control = true;
  config.models = std::move(models);
  return config;
}

config::ModelConfig FileModel(const std::string& path, std::int64_t rows, std::int64_t dim) {
  const config::RawLayout layout = {.dtype = config::StoredType::kFloat32, .rows = rows, .columns = dim};
  return {.name = "file", .token = config::TableFile{.path = path, .raw = layout}};
}

client::EmbedRequest Request(const std::string& model) {
  return {.model = model, .ids = {1, 2, 3, 9, 0, 7}, .batch_size = 2, .sequence_length = 3};
}

std::string Bytes(const client::Embedding& embedding) {
  return {reinterpret_cast<const char*>(embedding.bytes().data()), embedding.bytes().size()};
}

TEST(ModelControl, IsOffUnlessTheConfigurationSaysOtherwise) {
  config::ServerConfig config = Explicit({testing::SmallModel("m", 10, kDim, 8)});
  config.explicit_model_control = false;
  testing::ServedModels served(config);

  EXPECT_FALSE(served.server().model_control().is_explicit());
  EXPECT_THAT(served.server().model_control().Unload("m"), ReasonIs("MODEL_CONTROL_OFF"));
  EXPECT_THAT(served.TcpClient().Embed(Request("m")), IsOk());
}

TEST(ModelControl, UnloadedModelIsUnavailableUntilItIsLoadedAgainWithTheSameBits) {
  testing::ServedModels served(Explicit({testing::SmallModel("m", 10, kDim, 8), testing::SmallModel("n", 5, 2, 0)}));
  const client::Client client = served.TcpClient();
  ASSERT_OK_AND_ASSIGN(const client::Embedding before, client.Embed(Request("m")));

  ASSERT_THAT(served.server().model_control().Unload("m"), IsOk());
  EXPECT_THAT(client.Embed(Request("m")),
              AllOf(StatusIs(absl::StatusCode::kUnavailable, "model \"m\" is not loaded: it was unloaded"),
                    ReasonIs("MODEL_NOT_LOADED")));
  ASSERT_THAT(served.server().model_control().Load("m"), IsOk());

  ASSERT_OK_AND_ASSIGN(const client::Embedding after, client.Embed(Request("m")));
  EXPECT_EQ(before.info().generation, 1);
  EXPECT_EQ(after.info().generation, 2);
  EXPECT_EQ(after.info().checksum, before.info().checksum);
  EXPECT_EQ(Bytes(after), Bytes(before));
}

TEST(ModelControl, StreamThatIsOpenSeesTheUnloadAtItsNextRequest) {
  testing::ServedModels served(Explicit({testing::SmallModel("m", 10, kDim, 8)}));
  auto stream = served.TcpClient().OpenStream({.timeout = absl::Seconds(20)});
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Send(Request("m"), "1"), IsOk());
  EXPECT_THAT(stream->Receive().value()->result, IsOk());

  ASSERT_THAT(served.server().model_control().Unload("m"), IsOk());
  ASSERT_THAT(stream->Send(Request("m"), "2"), IsOk());
  EXPECT_THAT(stream->Receive().value()->result, ReasonIs("MODEL_NOT_LOADED"));
  EXPECT_THAT(stream->CloseSending(), IsOk());
}

TEST(ModelControl, NoCallFailsWhileTheModelIsLoadedAnew) {
  constexpr int kLoads = 30;
  testing::ServedModels served(Explicit({testing::SmallModel("m", 1000, kDim, 8)}));
  const client::Client client = served.TcpClient();
  const std::string expected = Bytes(client.Embed(Request("m")).value());
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&] {
      for (std::int64_t generation = 1; !stop; ++calls) {
        const auto result = client.Embed(Request("m"));
        ASSERT_THAT(result, IsOk());
        ASSERT_EQ(Bytes(*result), expected);
        ASSERT_GE(result->info().generation, generation) << "a model that was replaced has come back";
        generation = result->info().generation;
      }
    });
  }

  for (int i = 0; i < kLoads; ++i) {
    EXPECT_THAT(served.server().model_control().Load("m"), IsOk());
    const int before = calls;
    EXPECT_TRUE(testing::Eventually([&] { return calls > before + 8; }));
  }
  stop = true;
  for (std::thread& caller : callers) caller.join();

  EXPECT_EQ(client.Embed(Request("m"))->info().generation, 1 + kLoads);
}

TEST(ModelControl, FileThatCannotBeLoadedAnewLeavesWhatIsServed) {
  const formats::ScratchFolder folder;
  const std::string path = folder.Write("t.bin", formats::Raw(std::vector<float>(10 * kDim, 1.5f)));
  testing::ServedModels served(Explicit({FileModel(path, 10, kDim)}));
  const client::Client client = served.TcpClient();
  const std::string expected = Bytes(client.Embed(Request("file")).value());

  std::filesystem::resize_file(path, kDim);
  EXPECT_THAT(served.server().model_control().Load("file"),
              StatusIs(absl::StatusCode::kInvalidArgument, AllOf(HasSubstr("model \"file\": "), HasSubstr(path))));

  ASSERT_OK_AND_ASSIGN(const client::Embedding after, client.Embed(Request("file")));
  EXPECT_EQ(Bytes(after), expected);
  EXPECT_EQ(after.info().generation, 1);
}

TEST(ModelControl, FileThatHasChangedIsServedAfterALoad) {
  const formats::ScratchFolder folder;
  const std::string path = folder.Write("t.bin", formats::Raw(std::vector<float>(10 * kDim, 1.5f)));
  testing::ServedModels served(Explicit({FileModel(path, 10, kDim)}));
  const std::vector<float> fresh(10 * kDim, -2.25f);
  ASSERT_EQ(folder.Write("t.bin", formats::Raw(fresh)), path);

  ASSERT_THAT(served.server().model_control().Load("file"), IsOk());

  ASSERT_OK_AND_ASSIGN(const client::Embedding after, served.TcpClient().Embed(Request("file")));
  EXPECT_EQ(Bytes(after), formats::Raw(std::vector<float>(6 * kDim, -2.25f)));
}

TEST(ModelControl, LoadsAtOnceAllSucceedAndRunAtMostOnceEach) {
  constexpr int kLoaders = 6;
  testing::ServedModels served(Explicit({testing::SmallModel("m", 2000, kDim, 8)}));
  std::vector<std::thread> loaders;
  for (int i = 0; i < kLoaders; ++i) {
    loaders.emplace_back([&] { EXPECT_THAT(served.server().model_control().Load("m"), IsOk()); });
  }
  for (std::thread& loader : loaders) loader.join();

  const std::int64_t generation = served.TcpClient().Embed(Request("m"))->info().generation;
  EXPECT_GE(generation, 2);
  EXPECT_LE(generation, 1 + kLoaders);
}

// 48 MiB of rows, of which the first message has been read when the model goes: what follows is still to be composed.
TEST(ModelControl, UnloadDoesNotDisturbACallUnderWay) {
  testing::ServedModels served(Explicit({testing::SmallModel("wide", 10, 256, 4096)}));
  v1::EmbedChunksRequest request;
  request.mutable_request()->set_model("wide");
  request.mutable_request()->set_part(v1::PART_POSITION);
  request.mutable_request()->set_batch_size(12);
  request.mutable_request()->set_sequence_length(4096);
  const auto expected = served.TcpClient().Embed(
      {.model = "wide", .batch_size = 1, .sequence_length = 4096, .part = client::Part::kPosition});
  ASSERT_THAT(expected, IsOk());
  const auto stub =
      v1::EmbeddingService::NewStub(grpc::CreateChannel(served.tcp_address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  const auto reader = stub->EmbedChunks(&context, request);
  v1::EmbedChunksResponse message;
  ASSERT_TRUE(reader->Read(&message));
  std::string data = message.data();

  ASSERT_THAT(served.server().model_control().Unload("wide"), IsOk());
  EXPECT_THAT(served.TcpClient().Embed(Request("wide")), ReasonIs("MODEL_NOT_LOADED"));
  while (reader->Read(&message)) data += message.data();

  EXPECT_TRUE(reader->Finish().ok());
  const std::string row = Bytes(*expected);
  ASSERT_EQ(data.size(), 12 * row.size());
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(data.compare(i * row.size(), row.size(), row), 0) << i;
}

TEST(ModelControl, OpenInferenceProtocolReachesIt) {
  config::ServerConfig config = Explicit({testing::SmallModel("m", 10, kDim, 8)});
  config.inference = {.name = "triton", .output_type = config::OutputType::kFloat16};
  const testing::ServedModels served(config);
  const auto stub = inference::GRPCInferenceService::NewStub(
      grpc::CreateChannel(served.tcp_address(), grpc::InsecureChannelCredentials()));
  const auto index = [&stub] {
    grpc::ClientContext context;
    inference::RepositoryIndexResponse response;
    EXPECT_TRUE(stub->RepositoryIndex(&context, {}, &response).ok());
    EXPECT_EQ(response.models_size(), 1);
    return response.models(0).name() + " " + response.models(0).state() + " " + response.models(0).reason();
  };
  inference::RepositoryModelUnloadRequest unload;
  unload.set_model_name("m");
  inference::RepositoryModelLoadRequest load;
  load.set_model_name("m");
  inference::RepositoryModelUnloadResponse unloaded;
  inference::RepositoryModelLoadResponse loaded;
  grpc::ClientContext first, second, third, fourth;

  EXPECT_TRUE(stub->RepositoryModelUnload(&first, unload, &unloaded).ok());
  EXPECT_EQ(index(), "m UNAVAILABLE unloaded");
  EXPECT_TRUE(stub->RepositoryModelLoad(&second, load, &loaded).ok());
  EXPECT_EQ(index(), "m READY ");

  EXPECT_EQ(served.TcpClient().Embed(Request("m"))->info().generation, 2);
  inference::ServerMetadataResponse server;
  EXPECT_TRUE(stub->ServerMetadata(&third, {}, &server).ok());
  EXPECT_EQ(server.name(), "triton");
  inference::ModelMetadataRequest model;
  model.set_name("m");
  inference::ModelMetadataResponse metadata;
  EXPECT_TRUE(stub->ModelMetadata(&fourth, model, &metadata).ok());
  EXPECT_EQ(metadata.outputs(0).datatype(), "FP16");
}

TEST(ModelControl, HealthFollowsTheModel) {
  testing::ServedModels served(Explicit({testing::SmallModel("m", 10, kDim, 8), testing::SmallModel("n", 5, 2, 0)}));
  const client::Client client = served.TcpClient();
  EXPECT_EQ(client.CheckHealth("m").value(), HealthStatus::kServing);

  ASSERT_THAT(served.server().model_control().Unload("m"), IsOk());
  EXPECT_EQ(client.CheckHealth("m").value(), HealthStatus::kNotServing);
  EXPECT_EQ(client.CheckHealth("n").value(), HealthStatus::kServing);
  EXPECT_EQ(client.CheckHealth("").value(), HealthStatus::kServing);

  ASSERT_THAT(served.server().model_control().Load("m"), IsOk());
  EXPECT_EQ(client.CheckHealth("m").value(), HealthStatus::kServing);
}

// Sanitizers keep memory of their own beside ours.
#ifndef EMBD_SANITIZED

std::int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(ModelControl, UnloadGivesTheMemoryBack) {
  constexpr std::int64_t kRows = 50'000, kWide = 1024;  // 195 MiB
  constexpr std::int64_t kTableBytes = kRows * kWide * 4;
  const formats::ScratchFolder folder;
  const std::string path = folder.Write("t.bin", "");
  std::filesystem::resize_file(path, kTableBytes);  // zeros that take no room on disk
  testing::ServedModels served(Explicit({FileModel(path, kRows, kWide)}));
  const std::int64_t loaded = ResidentBytes();

  ASSERT_THAT(served.server().model_control().Unload("file"), IsOk());
  const std::int64_t unloaded = ResidentBytes();
  EXPECT_LT(unloaded, loaded - kTableBytes * 9 / 10);

  for (int i = 0; i < 3; ++i) ASSERT_THAT(served.server().model_control().Load("file"), IsOk());
  EXPECT_LT(ResidentBytes(), loaded + kTableBytes / 10) << "a table that was replaced is gone";
}

#endif

}  // namespace
}  // namespace embd
