// The standard health service as an orchestrator watches it.

#include <thread>

#include "gmock/gmock.h"
#include "tests/support/health_watch.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using ::embd::testing::HealthWatch;
using ::embd::testing::IsOk;

TEST(HealthWatch, SeesNotServingWhileCallsAreDrained) {
  config::ServerConfig config;
  config.models = {testing::SmallModel("tiny", 10, 4, 8)};
  testing::ServedModels served(config);
  auto stream = served.TcpClient().OpenStream({.timeout = absl::Seconds(20)});
  ASSERT_THAT(stream, IsOk());
  ASSERT_THAT(stream->Send({.model = "tiny", .ids = {1}, .batch_size = 1, .sequence_length = 1}), IsOk());
  ASSERT_THAT(stream->Receive(), IsOk());
  std::thread stopping;
  {
    HealthWatch watch(served.tcp_address());
    EXPECT_EQ(watch.Next(), HealthWatch::kServing);

    stopping = std::thread([&] { served.server().Shutdown(absl::Seconds(20)); });

    EXPECT_EQ(watch.Next(), HealthWatch::kNotServing);
  }
  EXPECT_THAT(stream->CloseSending(), IsOk());
  EXPECT_FALSE(stream->Receive()->has_value()) << "the call in flight could end in peace";
  stopping.join();
}

}  // namespace
}  // namespace embd
