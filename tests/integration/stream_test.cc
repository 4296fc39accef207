#include <cstdint>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "embd/client/error.h"
#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::testing::ElementsAre;

config::ServerConfig Config() {
  config::ServerConfig config;
  config.models = {testing::SmallModel("tiny", 10, 4, 8), testing::SmallModel("wide", 10, 256, 4096)};
  return config;
}

client::EmbedRequest Request(std::int64_t tokens, std::int64_t id = 1, const std::string& model = "tiny") {
  return {.model = model,
          .ids = std::vector<std::int64_t>(static_cast<std::size_t>(tokens), id),
          .batch_size = 1,
          .sequence_length = tokens};
}

TEST(EmbedStream, HundredSmallBatchesComeInOrderAndOneBadOneDoesNotStopThem) {
  const testing::ServedModels served(Config());
  auto stream = served.TcpClient().OpenStream();
  ASSERT_THAT(stream, IsOk());

  for (int i = 0; i < 100; ++i) {
    ASSERT_THAT(stream->Send(Request(1 + i % 8, i == 50 ? 10 : 1), absl::StrCat("r", i)), IsOk());
  }
  ASSERT_THAT(stream->CloseSending(), IsOk());

  for (int i = 0; i < 100; ++i) {
    const auto item = stream->Receive();
    ASSERT_THAT(item, IsOk());
    ASSERT_TRUE(item->has_value());
    EXPECT_EQ((*item)->request_id, absl::StrCat("r", i));
    EXPECT_EQ((*item)->index, i);
    if (i == 50) {
      EXPECT_THAT((*item)->result, ReasonIs("ID_OUT_OF_RANGE"));
    } else {
      ASSERT_THAT((*item)->result, IsOk());
      EXPECT_THAT((*item)->result->shape(), ElementsAre(1, 1 + i % 8, 4));
    }
  }
  EXPECT_FALSE(stream->Receive()->has_value());
}

// Large items go to the workers, small ones are answered at once: the order must hold all the same.
TEST(EmbedStream, LargeAndSmallBatchesKeepTheirOrder) {
  const testing::ServedModels served(Config());
  auto stream = served.UnixClient().OpenStream();
  ASSERT_THAT(stream, IsOk());

  std::thread sender([&] {
    for (int i = 0; i < 60; ++i) {
      EXPECT_THAT(stream->Send(i % 3 == 0 ? Request(4096, 1, "wide") : Request(1), ""), IsOk());
    }
    EXPECT_THAT(stream->CloseSending(), IsOk());
  });
  for (int i = 0; i < 60; ++i) {
    const auto item = stream->Receive();
    ASSERT_THAT(item, IsOk());
    ASSERT_TRUE(item->has_value());
    ASSERT_EQ((*item)->index, i);
    ASSERT_THAT((*item)->result, IsOk());
    EXPECT_EQ((*item)->result->shape()[1], i % 3 == 0 ? 4096 : 1);
  }
  EXPECT_FALSE(stream->Receive()->has_value());
  sender.join();
}

TEST(EmbedStream, StreamWithoutRequestsEndsAtOnce) {
  const testing::ServedModels served(Config());
  auto stream = served.TcpClient().OpenStream();
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->CloseSending(), IsOk());

  const auto end = stream->Receive();

  ASSERT_THAT(end, IsOk());
  EXPECT_FALSE(end->has_value());
}

TEST(EmbedStream, CallerThatLeavesInTheMiddleHarmsNobody) {
  const testing::ServedModels served(Config());
  for (int round = 0; round < 20; ++round) {
    auto stream = served.TcpClient().OpenStream();
    ASSERT_THAT(stream, IsOk());
    for (int i = 0; i < 5; ++i) ASSERT_THAT(stream->Send(Request(4096, 1, "wide"), ""), IsOk());
    ASSERT_THAT(stream->Receive(), IsOk());
  }

  EXPECT_THAT(served.TcpClient().Embed(Request(1)), IsOk());
}

}  // namespace
}  // namespace embd
