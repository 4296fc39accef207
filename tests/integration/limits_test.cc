// Every limit of the configuration, set small, bites, and its refusal names the key and its value.

#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "embd/client/channel.h"
#include "embd/client/shared_region.h"
#include "embd/v1/embedding.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "inference/grpc_service.grpc.pb.h"
#include "proto/wire/status.h"
#include "server/config/keys.h"
#include "tests/support/eventually.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::Chunks;
using client::Client;
using ::embd::testing::Eventually;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::ServedModels;
using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr std::int64_t kDim = 256;
const client::CallOptions kWhole = {.timeout = absl::Seconds(20), .chunks = Chunks::kNever};

config::ServerConfig Config() { return {.models = {testing::SmallModel("m", 10, kDim, 1 << 16)}}; }

client::EmbedRequest Batch(std::int64_t batch_size, std::int64_t sequence_length) {
  client::EmbedRequest request = {.model = "m", .batch_size = batch_size, .sequence_length = sequence_length};
  request.part = client::Part::kPosition;
  return request;
}

Client Once(const ServedModels& served) { return Client::Connect(served.tcp_address(), {.max_attempts = 1}).value(); }

// A call of EmbedStream whose answers nobody reads, on a connection of its own.
class UnreadStream {
 public:
  explicit UnreadStream(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    stub_ = v1::EmbeddingService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    stream_ = stub_->EmbedStream(&context_);
    v1::EmbedStreamRequest item;
    item.mutable_request()->set_model("m");
    item.mutable_request()->set_part(v1::PART_POSITION);
    item.mutable_request()->set_batch_size(1);
    item.mutable_request()->set_sequence_length(1 << 14);
    stream_->Write(item);
  }
  ~UnreadStream() { context_.TryCancel(); }

  // How the call ends, once all that came is read.
  absl::Status End() {
    stream_->WritesDone();
    v1::EmbedStreamResponse answer;
    while (stream_->Read(&answer)) {
    }
    return wire::FromGrpcStatus(stream_->Finish());
  }

  [[nodiscard]] v1::EmbeddingService::Stub& stub() { return *stub_; }

 private:
  std::unique_ptr<v1::EmbeddingService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReaderWriter<v1::EmbedStreamRequest, v1::EmbedStreamResponse>> stream_;
};

// A call of EmbedChunks whose 16 MiB nobody reads, on a connection of its own.
class UnreadChunks {
 public:
  explicit UnreadChunks(const std::string& address) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    stub_ = v1::EmbeddingService::NewStub(
        grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
    v1::EmbedChunksRequest request;
    request.mutable_request()->set_model("m");
    request.mutable_request()->set_part(v1::PART_POSITION);
    request.mutable_request()->set_batch_size(1);
    request.mutable_request()->set_sequence_length(1 << 14);
    reader_ = stub_->EmbedChunks(&context_, request);
  }
  ~UnreadChunks() { context_.TryCancel(); }

 private:
  std::unique_ptr<v1::EmbeddingService::Stub> stub_;
  grpc::ClientContext context_;
  std::unique_ptr<grpc::ClientReader<v1::EmbedChunksResponse>> reader_;
};

// An unread call that holds so much that `request` is refused beside it, and how that is; null where it never is. Where
// the request comes first, the other call is refused in its place, so that another one is tried.
template <typename UnreadCall>
std::unique_ptr<UnreadCall> HoldBeside(const ServedModels& served, const client::EmbedRequest& request,
                                       absl::Status* refused) {
  const Client client = Once(served);
  std::unique_ptr<UnreadCall> holding;
  Eventually([&] {
    holding.reset();
    holding = std::make_unique<UnreadCall>(served.tcp_address());
    for (int i = 0; i < 20 && refused->ok(); ++i) *refused = client.Embed(request, kWhole).status();
    return !refused->ok();
  });
  return refused->ok() ? nullptr : std::move(holding);
}

absl::Status RequestTooLong() {
  config::ServerConfig config = Config();
  config.limits.max_request_bytes = 1000;
  const ServedModels served(config);
  client::EmbedRequest request = {.model = "m", .batch_size = 1, .sequence_length = 2000};
  request.ids.assign(2000, 1);
  return Once(served).Embed(request, kWhole).status();
}

absl::Status ReplyTooLong() {
  config::ServerConfig config = Config();
  config.limits.max_response_bytes = 1000;
  const ServedModels served(config);
  return Once(served).Embed(Batch(1, 1), kWhole).status();
}

absl::Status BatchTooLarge() {
  config::ServerConfig config = Config();
  config.limits.max_batch_size = 3;
  const ServedModels served(config);
  return Once(served).Embed(Batch(4, 1), kWhole).status();
}

absl::Status SequenceTooLong() {
  config::ServerConfig config = Config();
  config.limits.max_sequence_length = 3;
  const ServedModels served(config);
  return Once(served).Embed(Batch(1, 4), kWhole).status();
}

absl::Status TooMuchInFlight() {
  config::ServerConfig config = Config();
  config.limits.max_bytes_in_flight = 17 << 20;
  const ServedModels served(config);
  absl::Status refused;
  (void)HoldBeside<UnreadStream>(served, Batch(1, 4096), &refused);  // 4 MiB beside 16
  return refused;
}

// Eight callers at a time, of whom at most one can be let in at some moment.
absl::Status FirstRefusalOfMany(const config::ServerConfig& config, const client::EmbedRequest& request) {
  const ServedModels served(config);
  const Client client = Once(served);
  absl::Status refused;
  Eventually([&] {
    std::vector<std::future<absl::StatusOr<client::Embedding>>> results;
    for (int i = 0; i < 8; ++i) results.push_back(client.EmbedAsync(request));
    for (auto& each : results) {
      const auto result = each.get();
      if (!result.ok()) refused = result.status();
    }
    return !refused.ok();
  });
  return refused;
}

absl::Status TooManyRequestBytes() {
  config::ServerConfig config = Config();
  config.limits.max_request_bytes_in_flight = 40'000;
  client::EmbedRequest request = {.model = "m", .batch_size = 1, .sequence_length = 30'000};
  request.ids.assign(30'000, 1);
  return FirstRefusalOfMany(config, request);
}

absl::Status TooManyCalls() {
  config::ServerConfig config = Config();
  config.limits.max_concurrent_calls = 1;
  const ServedModels served(config);
  absl::Status refused;
  (void)HoldBeside<UnreadChunks>(served, Batch(1, 1), &refused);
  return refused;
}

// gRPC makes clients wait, and says nothing: the second call goes out once the first one has ended.
absl::Status TooManyStreams() {
  config::ServerConfig config = Config();
  config.limits.max_concurrent_streams = 1;
  const ServedModels served(config);
  UnreadStream holding(served.tcp_address());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(500));
  v1::EmbedRequest request;
  request.set_model("m");
  v1::EmbedResponse response;
  const grpc::Status status = holding.stub().Embed(&context, request, &response);
  return status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED
             ? absl::ResourceExhaustedError("waits for max_concurrent_streams 1")
             : wire::FromGrpcStatus(status);
}

// Pauses longer and longer: on a busy machine the answer itself may take longer than the stall.
absl::Status StalledReader() {
  config::ServerConfig config = Config();
  config.limits.max_stall_seconds = 1;
  config.limits.max_bytes_in_flight = 17 << 20;
  const ServedModels served(config);
  absl::Status end;
  for (int seconds = 2; end.ok() && seconds <= 32; seconds *= 2) {
    UnreadStream stalled(served.tcp_address());
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    end = stalled.End();
  }
  const Client client = Once(served);
  const auto has_room = [&] { return client.Embed(Batch(1, 4096), kWhole).ok(); };
  return Eventually(has_room) ? end : absl::InternalError("what the stream held does not come back");
}

struct Case {
  absl::Status (*refusal)();
  std::string names;
};

const std::map<std::string, Case>& Cases() {
  static const auto* const cases = new std::map<std::string, Case>{
      {"max_request_bytes", {&RequestTooLong, "exceeds max_request_bytes 1000 "}},
      {"max_response_bytes", {&ReplyTooLong, "max_response_bytes 1000"}},
      {"max_batch_size", {&BatchTooLarge, "max_batch_size 3"}},
      {"max_sequence_length", {&SequenceTooLong, "max_sequence_length 3"}},
      {"max_bytes_in_flight", {&TooMuchInFlight, "max_bytes_in_flight of this server is 17825792"}},
      {"max_request_bytes_in_flight", {&TooManyRequestBytes, "exceeds max_request_bytes_in_flight 40000 "}},
      {"max_concurrent_calls", {&TooManyCalls, "max_concurrent_calls 1 of this server"}},
      {"max_concurrent_streams", {&TooManyStreams, "max_concurrent_streams 1"}},
      {"max_stall", {&StalledReader, "longer than max_stall 1s of this server"}},
  };
  return *cases;
}

class LimitTest : public ::testing::TestWithParam<std::string> {};

TEST_P(LimitTest, BitesAndIsNamedWithItsValue) {
  const auto found = Cases().find(GetParam());
  ASSERT_NE(found, Cases().end()) << "a limit that no case shows to bite";

  const absl::Status refusal = found->second.refusal();

  EXPECT_FALSE(refusal.ok());
  EXPECT_THAT(std::string(refusal.message()), HasSubstr(found->second.names));
}

std::vector<std::string> LimitKeys() {
  const auto keys = config::KeysOf(config::Section::kLimits);
  std::vector<std::string> names;
  for (const absl::string_view key : keys) names.emplace_back(key);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Limits, LimitTest, ::testing::ValuesIn(LimitKeys()),
                         [](const auto& param) { return param.param; });

// An id of one byte on the wire takes eight in memory.
TEST(RequestLimits, WeighWhatARequestTakesOnceItIsDecoded) {
  config::ServerConfig config = Config();
  config.limits.max_request_bytes = 100'000;
  config.limits.max_request_bytes_in_flight = 200'000;
  const ServedModels served(config);
  const auto stub =
      v1::EmbeddingService::NewStub(grpc::CreateChannel(served.tcp_address(), grpc::InsecureChannelCredentials()));
  const auto embed = [&stub](int count) {
    grpc::ClientContext context;
    v1::EmbedRequest request;
    request.set_model("m");
    request.mutable_ids()->Resize(count, 1);
    request.set_batch_size(1);
    request.set_sequence_length(count);
    v1::EmbedResponse response;
    return wire::FromGrpcStatus(stub->Embed(&context, request, &response));
  };

  EXPECT_THAT(embed(2000), IsOk());
  EXPECT_THAT(embed(90'000),
              ::testing::AllOf(StatusIs(absl::StatusCode::kResourceExhausted,
                                        ::testing::AllOf(HasSubstr("bytes of memory once they are decoded"),
                                                         HasSubstr("max_request_bytes_in_flight 200000"))),
                               ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(embed(2000), IsOk());
}

TEST(Overload, SaysInATrailerWhenToTryAgain) {
  config::ServerConfig config = Config();
  config.limits.max_concurrent_calls = 1;
  const ServedModels served(config);
  absl::Status refused;
  const auto holding = HoldBeside<UnreadChunks>(served, Batch(1, 1), &refused);
  ASSERT_NE(holding, nullptr);
  const auto stub =
      v1::EmbeddingService::NewStub(grpc::CreateChannel(served.tcp_address(), grpc::InsecureChannelCredentials()));
  v1::EmbedRequest request;
  request.set_model("m");
  std::string pushback;

  EXPECT_TRUE(Eventually([&] {
    grpc::ClientContext context;
    v1::EmbedResponse response;
    (void)stub->Embed(&context, request, &response);
    const auto& trailers = context.GetServerTrailingMetadata();
    const auto found = trailers.find("grpc-retry-pushback-ms");
    if (found != trailers.end()) pushback = std::string(found->second.data(), found->second.size());
    return !pushback.empty();
  }));
  EXPECT_EQ(pushback, "50");
}

TEST(Overload, LeavesTheAnswersOfWhetherTheServerLives) {
  config::ServerConfig config = Config();
  config.limits.max_concurrent_calls = 1;
  const ServedModels served(config);
  absl::Status refused;
  const auto holding = HoldBeside<UnreadChunks>(served, Batch(1, 1), &refused);
  ASSERT_NE(holding, nullptr);

  const auto stub = inference::GRPCInferenceService::NewStub(
      grpc::CreateChannel(served.tcp_address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  inference::ServerReadyResponse response;
  EXPECT_TRUE(stub->ServerReady(&context, {}, &response).ok());
  EXPECT_TRUE(response.ready());
}

TEST(IdleStreams, DoNotCountAsCalls) {
  config::ServerConfig config = Config();
  config.limits.max_concurrent_calls = 1;
  const ServedModels served(config);
  const auto stub =
      v1::EmbeddingService::NewStub(grpc::CreateChannel(served.tcp_address(), grpc::InsecureChannelCredentials()));
  std::vector<std::unique_ptr<grpc::ClientContext>> contexts;
  std::vector<std::unique_ptr<grpc::ClientReaderWriter<v1::EmbedStreamRequest, v1::EmbedStreamResponse>>> streams;
  v1::EmbedStreamRequest item;
  item.mutable_request()->set_model("m");
  item.mutable_request()->set_part(v1::PART_POSITION);
  item.mutable_request()->set_batch_size(1);
  item.mutable_request()->set_sequence_length(1);
  for (int i = 0; i < 8; ++i) {  // each has had its answer, and waits for what its caller may want next
    contexts.push_back(std::make_unique<grpc::ClientContext>());
    streams.push_back(stub->EmbedStream(contexts.back().get()));
    v1::EmbedStreamResponse answer;
    ASSERT_TRUE(streams.back()->Write(item) && streams.back()->Read(&answer));
    EXPECT_FALSE(answer.has_error()) << answer.error().message();
  }

  EXPECT_THAT(Once(served).Embed(Batch(1, 1), kWhole), IsOk());
  for (const auto& context : contexts) context->TryCancel();
  for (const auto& stream : streams) (void)stream->Finish();
}

TEST(RegionLimits, BiteAndAreNamed) {
  config::ServerConfig config = Config();
  config.shared_memory =
      config::SharedMemory{.prefix = ::testing::TempDir() + "embd-limits-", .max_regions = 1, .max_bytes = 8192};
  const ServedModels served(config);
  const Client client = served.UnixClient();
  EXPECT_THAT(std::string(client::SharedRegion::Create(client, 8193).status().message()), HasSubstr("max_bytes 8192"));

  const auto first = client::SharedRegion::Create(client, 4096);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_THAT(std::string(client::SharedRegion::Create(client, 64).status().message()), HasSubstr("max_regions 1"));
}

}  // namespace
}  // namespace embd
