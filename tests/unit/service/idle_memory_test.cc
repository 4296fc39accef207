#include "server/app/idle_memory.h"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/support/eventually.h"
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

// A sanitizer brings an allocator of its own, which gives back as it likes.
#ifndef EMBD_SANITIZED

std::int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(IdleMemory, WhatAModelLeavesInTheHeapIsGivenBack) {
  constexpr std::size_t kBlocks = 50'000;
  const auto buffers = service::ReplyBuffers::Create(64 << 20, 64 << 20);
  const TableBudget budget(0);
  std::vector<std::unique_ptr<std::string>> words;
  for (std::size_t i = 0; i < kBlocks; ++i) words.push_back(std::make_unique<std::string>(1000, 'x'));
  const std::unique_ptr<std::string> last = std::move(words.back());  // the allocator gives back no more than is above
  words.clear();
  const std::int64_t before = ResidentBytes();

  const IdleMemory idle_memory(buffers, budget, std::chrono::milliseconds(1));
  { const TableShare share = budget.Open(); }

  EXPECT_TRUE(testing::Eventually([&] { return ResidentBytes() < before - 40'000'000; }));
}

#endif

}  // namespace
}  // namespace embd::app
