#include "server/service/reply_buffers.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "proto/wire/status.h"
#include "tests/support/status_matchers.h"

namespace embd::service {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;
constexpr std::size_t kMiB = std::size_t{1} << 20;

// What a reply of that size counts.
std::int64_t Charge(std::size_t size) {
  const auto buffers = ReplyBuffers::Create(std::int64_t{1} << 40, 0);
  const auto buffer = buffers->Take(size);
  return buffers->bytes_in_flight();
}

TEST(ReplyBuffers, LendExactlyTheBytesAskedFor) {
  const auto buffers = ReplyBuffers::Create(1 << 20, 0);
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{4097}, std::size_t{1} << 20}) {
    auto buffer = buffers->Take(size);
    ASSERT_THAT(buffer, IsOk());
    EXPECT_EQ(buffer->bytes().size(), size);
  }
}

TEST(ReplyBuffers, ReplyCountsTheMemoryItTakes) {
  EXPECT_EQ(Charge(0), 4096);
  EXPECT_EQ(Charge(4096), 4096);
  EXPECT_EQ(Charge(4097), 5120);
  EXPECT_EQ(Charge(kMiB), 1 << 20);
  EXPECT_EQ(Charge(2 * kMiB), 2 << 20);
  EXPECT_EQ(Charge(2 * kMiB + 1), 4 << 20);
  EXPECT_EQ(Charge(16 * kMiB + 1), 20 << 20);
}

TEST(ReplyBuffers, ReplyThatFitsExactlyIsNotRefusedForItsRounding) {
  const auto buffers = ReplyBuffers::Create(4097, 0);

  const auto buffer = buffers->Take(4097);

  EXPECT_THAT(buffer, IsOk());
  EXPECT_EQ(buffers->bytes_in_flight(), 4097);
}

TEST(ReplyBuffers, ReplyOverTheBoundNeverFits) {
  const auto buffers = ReplyBuffers::Create(8192, 0);

  const auto refused = buffers->Take(8193).status();

  EXPECT_THAT(refused, AllOf(StatusIs(kExhausted,
                                      HasSubstr("the reply needs 8193 bytes, which exceeds max_bytes_in_flight 8192")),
                             ReasonIs("RESPONSE_TOO_LARGE")));
  EXPECT_TRUE(wire::NeverFits(refused));
  EXPECT_EQ(buffers->bytes_in_flight(), 0);
}

TEST(ReplyBuffers, ReplyBesideOthersIsOverloadedUntilTheyAreGivenBack) {
  const auto buffers = ReplyBuffers::Create(8192, 0);
  {
    const auto held = buffers->Take(4096);
    const auto refused = buffers->Take(6000).status();

    EXPECT_THAT(refused, AllOf(StatusIs(kExhausted, HasSubstr("this one, of 6000 bytes, takes 6144; "
                                                              "max_bytes_in_flight of this server is 8192")),
                               ReasonIs("OVERLOADED")));
    EXPECT_GT(wire::RetryAfterMs(refused).value_or(0), 0);
    EXPECT_EQ(buffers->bytes_in_flight(), 4096);
  }
  EXPECT_EQ(buffers->bytes_in_flight(), 0);
  EXPECT_THAT(buffers->Take(6000), IsOk());
}

TEST(ReplyBuffers, MemoryTheSystemHasNotIsOverloaded) {
  const auto buffers = ReplyBuffers::Create(std::int64_t{1} << 62, 0);

  const auto refused = buffers->Take(std::size_t{1} << 60).status();

  EXPECT_THAT(refused, AllOf(StatusIs(kExhausted, HasSubstr("cannot allocate")), ReasonIs("OVERLOADED")));
  EXPECT_GT(wire::RetryAfterMs(refused).value_or(0), 0);
  EXPECT_EQ(buffers->bytes_in_flight(), 0);
}

TEST(ReplyBuffers, MemoryIsUsedAgainByRepliesOfLikeSize) {
  const auto buffers = ReplyBuffers::Create(64 << 20, 8 * kMiB);
  for (const std::size_t size : {3 * kMiB, 3 * kMiB + 5, 4 * kMiB}) EXPECT_THAT(buffers->Take(size), IsOk());

  EXPECT_EQ(buffers->allocations(), 1);
}

TEST(ReplyBuffers, NoMoreIsKeptThanTheIdleBound) {
  const auto buffers = ReplyBuffers::Create(64 << 20, kMiB);
  for (int round = 0; round < 2; ++round) {
    const auto first = buffers->Take(kMiB);
    const auto second = buffers->Take(kMiB);
    EXPECT_THAT(second, IsOk());
  }

  EXPECT_EQ(buffers->allocations(), 3) << "one of two is kept";
}

TEST(ReplyBuffers, IdleBuffersOfOtherSizesMakeRoom) {
  const auto buffers = ReplyBuffers::Create(64 << 20, 4 * kMiB);
  {
    std::vector<ReplyBuffer> small;
    for (int i = 0; i < 4; ++i) small.push_back(*buffers->Take(kMiB));
  }
  EXPECT_THAT(buffers->Take(4 * kMiB), IsOk());
  const std::int64_t before = buffers->allocations();

  EXPECT_THAT(buffers->Take(4 * kMiB), IsOk());

  EXPECT_EQ(buffers->allocations(), before);
}

TEST(ReplyBuffers, WhatLayIdleBetweenTwoLooksIsFreed) {
  const auto buffers = ReplyBuffers::Create(64 << 20, 64 * kMiB);
  EXPECT_THAT(buffers->Take(4 * kMiB), IsOk());

  EXPECT_EQ(buffers->FreeUnused(), 0u) << "it may have come back just now";
  EXPECT_EQ(buffers->idle_bytes(), 4 * kMiB);
  EXPECT_EQ(buffers->FreeUnused(), 4 * kMiB);
  EXPECT_EQ(buffers->idle_bytes(), 0u);
  EXPECT_EQ(buffers->FreeUnused(), 0u);
}

TEST(ReplyBuffers, WhatIsUsedBetweenTwoLooksIsKept) {
  const auto buffers = ReplyBuffers::Create(64 << 20, 64 * kMiB);
  for (int look = 0; look < 4; ++look) {
    EXPECT_THAT(buffers->Take(4 * kMiB), IsOk());
    EXPECT_EQ(buffers->FreeUnused(), 0u);
  }

  EXPECT_EQ(buffers->allocations(), 1);
}

// Five are there after the burst, two at a time are needed later.
TEST(ReplyBuffers, OfBuffersOfOneSizeThoseAreFreedThatWereNeverNeeded) {
  const auto buffers = ReplyBuffers::Create(64 << 20, 64 * kMiB);
  const auto take = [&buffers](int count) {
    std::vector<ReplyBuffer> held;
    for (int i = 0; i < count; ++i) held.push_back(*buffers->Take(kMiB));
  };
  take(5);
  buffers->FreeUnused();
  take(2);
  take(1);

  EXPECT_EQ(buffers->FreeUnused(), 3 * kMiB);
  EXPECT_EQ(buffers->idle_bytes(), 2 * kMiB);
  take(2);
  EXPECT_EQ(buffers->allocations(), 5);
}

TEST(ReplyBuffers, BufferThatIsLentIsNotFreed) {
  const auto buffers = ReplyBuffers::Create(64 << 20, 64 * kMiB);
  EXPECT_THAT(buffers->Take(kMiB), IsOk());
  buffers->FreeUnused();
  {
    const auto held = buffers->Take(kMiB);
    EXPECT_EQ(buffers->FreeUnused(), 0u);
    EXPECT_EQ(buffers->bytes_in_flight(), 1 << 20);
  }
  EXPECT_EQ(buffers->FreeUnused(), 0u) << "it came back since the look before";
  EXPECT_EQ(buffers->FreeUnused(), kMiB);
}

TEST(ReplyBuffers, BufferOutlivesItsPool) {
  auto buffers = ReplyBuffers::Create(1 << 20, 1 << 20);
  auto buffer = buffers->Take(100);
  ASSERT_THAT(buffer, IsOk());
  buffers.reset();

  std::ranges::fill(buffer->bytes(), std::byte{1});

  EXPECT_EQ(buffer->bytes()[99], std::byte{1});
}

TEST(ReplyBuffers, ThreadsTogetherNeverExceedTheBound) {
  constexpr std::int64_t kBound = 3 * 4096;
  const auto buffers = ReplyBuffers::Create(kBound, 4096);
  std::atomic<std::int64_t> most = 0, taken = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        const auto buffer = buffers->Take(4096);
        if (buffer.ok()) ++taken;
        const std::int64_t now = buffers->bytes_in_flight();
        for (std::int64_t seen = most.load(); now > seen && !most.compare_exchange_weak(seen, now);) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_LE(most.load(), kBound);
  EXPECT_GT(taken.load(), 0);
  EXPECT_EQ(buffers->bytes_in_flight(), 0);
}

}  // namespace
}  // namespace embd::service
