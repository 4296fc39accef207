// Counts what is allocated while large replies are served: after a warm-up, nothing of a reply's size.

#include <dlfcn.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;
std::atomic<std::int64_t> large_allocations = 0;

void Count(std::size_t size) {
  if (size >= kLarge) large_allocations.fetch_add(1, std::memory_order_relaxed);
}

template <typename Function>
Function Next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// Stand before libc's own, for this program and the libraries it loads. (calloc is left alone: dlsym itself needs it,
// and nothing of a reply is ever zero-filled.)
extern "C" {
void* malloc(std::size_t size) {
  static const auto next = Next<void* (*)(std::size_t)>("malloc");
  Count(size);
  return next(size);
}
void* realloc(void* memory, std::size_t size) {
  static const auto next = Next<void* (*)(void*, std::size_t)>("realloc");
  Count(size);
  return next(memory, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  static const auto next = Next<void* (*)(std::size_t, std::size_t)>("aligned_alloc");
  Count(size);
  return next(alignment, size);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  static const auto next = Next<int (*)(void**, std::size_t, std::size_t)>("posix_memalign");
  Count(size);
  return next(memory, alignment, size);
}
void* mmap(void* address, std::size_t length, int protection, int flags, int file, off_t offset) {
  static const auto next = Next<void* (*)(void*, std::size_t, int, int, int, off_t)>("mmap");
  Count(length);
  return next(address, length, protection, flags, file, offset);
}
}

namespace embd {
namespace {

using ::embd::testing::IsOk;

constexpr std::int64_t kBatch = 8, kTokens = 512, kDim = 768;
constexpr std::size_t kReplyBytes = kBatch * kTokens * kDim * 4;

// The counter must see what it is there for, or its zero would mean nothing.
TEST(Allocations, CounterSeesALargeAllocation) {
  const std::int64_t before = large_allocations.load();

  const auto block = std::make_unique_for_overwrite<std::byte[]>(kReplyBytes);
  void* const mapped = mmap(nullptr, kReplyBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  EXPECT_NE(block, nullptr);
  EXPECT_GE(large_allocations.load() - before, 2);
  munmap(mapped, kReplyBytes);
}

TEST(Allocations, SteadyStateAllocatesNothingOfAReplysSize) {
  config::ServerConfig config;
  config.models = {testing::SmallModel("m", 5000, kDim, 512)};
  const testing::ServedModels served(config);
  const client::Client client = served.TcpClient();
  client::EmbedRequest request = {.model = "m", .batch_size = kBatch, .sequence_length = kTokens};
  for (std::int64_t i = 0; i < kBatch * kTokens; ++i) request.ids.push_back(i * 7919 % 5000);
  std::vector<std::byte> out(kReplyBytes);
  // Two replies can be on loan for a moment, since gRPC lets go of one after the caller has it.
  for (int i = 0; i < 20; ++i) ASSERT_THAT(client.EmbedInto(request, std::span(out)), IsOk());
  const std::int64_t before = large_allocations.load();

  constexpr int kCalls = 50;
  for (int i = 0; i < kCalls; ++i) ASSERT_THAT(client.EmbedInto(request, std::span(out)), IsOk());

  EXPECT_LE(large_allocations.load() - before, 1) << "in " << kCalls << " calls of " << kReplyBytes << " bytes each";
}

}  // namespace
}  // namespace embd
