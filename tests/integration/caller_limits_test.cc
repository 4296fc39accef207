// A configured limit as callers meet it: raised and lowered by its key, and under more callers than it lets in.

#include <cstdint>
#include <future>
#include <string>
#include <vector>

#include "embd/client/error.h"
#include "embd/v1/embedding.grpc.pb.h"
#include "gmock/gmock.h"
#include "grpcpp/grpcpp.h"
#include "proto/wire/status.h"
#include "tests/support/eventually.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::Eventually;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::ServedModels;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::int64_t kMebibyte = 1 << 20;

// Asks for the rows of `bytes` of raw INT64 ids, all of them zero.
absl::Status AskWithIdsOf(std::int64_t bytes, std::int64_t max_request_bytes) {
  config::ServerConfig config = {.models = {testing::SmallModel("m", 10, 1, 0)}};
  config.limits.max_request_bytes = max_request_bytes;
  const ServedModels served(config);
  v1::EmbedRequest request;
  request.set_model("m");
  v1::Tensor& ids = *request.mutable_ids_tensor();
  ids.set_data_type(v1::DATA_TYPE_INT64);
  ids.add_shape(1);
  ids.add_shape(bytes / 8);
  ids.set_data(std::string(static_cast<std::size_t>(bytes), '\0'));
  const auto stub =
      v1::EmbeddingService::NewStub(grpc::CreateChannel(served.tcp_address(), grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  v1::EmbedResponse response;
  return wire::FromGrpcStatus(stub->Embed(&context, request, &response));
}

TEST(RequestLimit, IsWhatTheConfigurationSays) {
  EXPECT_THAT(AskWithIdsOf(2 * kMebibyte, kMebibyte),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("exceeds max_request_bytes 1048576 ")),
                    ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(AskWithIdsOf(2 * kMebibyte, 4 * kMebibyte), IsOk());
}

TEST(ConcurrentCalls, FiftyAtOnceAreServedOrToldToComeAgain) {
  config::ServerConfig config = {.models = {testing::SmallModel("m", 10, 256, 0)}};
  config.limits.max_concurrent_calls = 1;
  const ServedModels served(config);
  const client::Client client = client::Client::Connect(served.tcp_address(), {.max_attempts = 1}).value();
  client::EmbedRequest request = {.model = "m", .batch_size = 1, .sequence_length = 4096};
  request.ids.assign(4096, 7);
  const client::CallOptions whole = {.timeout = absl::Seconds(60), .chunks = client::Chunks::kNever};
  int answered = 0, refused = 0;

  EXPECT_TRUE(Eventually([&] {
    std::vector<std::future<absl::StatusOr<client::Embedding>>> calls;
    for (int i = 0; i < 50; ++i) calls.push_back(client.EmbedAsync(request, whole));
    for (auto& call : calls) {
      const auto result = call.get();
      (result.ok() ? answered : refused) += 1;
      if (!result.ok()) {
        EXPECT_THAT(result, AllOf(StatusIs(absl::StatusCode::kResourceExhausted, HasSubstr("max_concurrent_calls 1 ")),
                                  ReasonIs("OVERLOADED")));
      }
    }
    return answered > 0 && refused > 0;
  }));

  EXPECT_THAT(client.Embed(request, whole), IsOk());
}

}  // namespace
}  // namespace embd
