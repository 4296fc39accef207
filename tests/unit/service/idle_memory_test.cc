#include "server/app/idle_memory.h"

#include <chrono>
#include <thread>

#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;

TEST(IdleMemory, IsGivenBackWithoutAnotherCall) {
  const auto buffers = service::ReplyBuffers::Create(64 << 20, 64 << 20);
  EXPECT_THAT(buffers->Take(4 << 20), IsOk());
  ASSERT_GT(buffers->idle_bytes(), 0u);

  const IdleMemory idle_memory(buffers, TableBudget(0), std::chrono::milliseconds(1));

  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (buffers->idle_bytes() > 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(buffers->idle_bytes(), 0u);
}

// A period of an hour: the test would not end if the thread slept through it.
TEST(IdleMemory, EndsAtOnce) {
  const auto buffers = service::ReplyBuffers::Create(64 << 20, 64 << 20);
  EXPECT_THAT(buffers->Take(4 << 20), IsOk());
  { const IdleMemory idle_memory(buffers, TableBudget(0), std::chrono::hours(1)); }

  EXPECT_EQ(buffers->idle_bytes(), std::size_t{4} << 20);
  EXPECT_EQ(buffers.use_count(), 1);
}

}  // namespace
}  // namespace embd::app
