#include "client/src/row_cache.h"

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "gmock/gmock.h"

namespace embd::client {
namespace {

constexpr std::size_t kRowBytes = 8;
constexpr std::size_t kMuch = std::size_t{1} << 20;

void Put(RowCache& cache, std::int64_t id) {
  const std::int64_t row = id * 1000 + 7;
  std::byte bytes[kRowBytes];
  std::memcpy(bytes, &row, sizeof row);
  cache.Put(id, bytes);
}

// Whether the row of `id` is there; and if so, it is that of `id`.
bool Has(const RowCache& cache, std::int64_t id) {
  const std::uint32_t place = cache.Find(id);
  if (place == RowCache::kNone) return false;
  std::int64_t row = 0;
  std::memcpy(&row, cache.row(place), sizeof row);
  EXPECT_EQ(row, id * 1000 + 7);
  return true;
}

TEST(RowCache, KeepsWhatIsPutIn) {
  RowCache cache(kRowBytes, kMuch, 10);

  Put(cache, 3);
  Put(cache, 0);

  EXPECT_TRUE(Has(cache, 3));
  EXPECT_TRUE(Has(cache, 0));
  EXPECT_FALSE(Has(cache, 1));
  EXPECT_EQ(cache.size(), 2u);
}

TEST(RowCache, KeepsARowOnce) {
  RowCache cache(kRowBytes, kMuch, 2);

  for (int i = 0; i < 5; ++i) Put(cache, 1);

  EXPECT_EQ(cache.size(), 1u);
}

TEST(RowCache, RowThatIsUsedStaysWhenOthersGo) {
  RowCache cache(kRowBytes, kMuch, 4);
  for (std::int64_t id = 0; id < 4; ++id) Put(cache, id);

  for (std::int64_t id = 4; id < 40; ++id) {
    cache.Use(cache.Find(2));
    Put(cache, id);
  }

  EXPECT_TRUE(Has(cache, 2));
  EXPECT_TRUE(Has(cache, 39));
  EXPECT_FALSE(Has(cache, 4));
  EXPECT_EQ(cache.size(), 4u);
}

TEST(RowCache, RoomIsMadeEvenWhereAllRowsAreUsed) {
  RowCache cache(kRowBytes, kMuch, 3);
  for (std::int64_t id = 0; id < 3; ++id) {
    Put(cache, id);
    cache.Use(cache.Find(id));
  }

  Put(cache, 3);

  EXPECT_TRUE(Has(cache, 3));
  EXPECT_EQ(cache.size(), 3u);
}

// The index moves its entries at each eviction: none may get lost, or turn up again.
TEST(RowCache, FindsExactlyWhatIsThereAfterManyEvictions) {
  std::mt19937_64 random(3);
  RowCache cache(kRowBytes, kMuch, 97);
  for (int i = 0; i < 20'000; ++i) {
    const auto id = static_cast<std::int64_t>(random() % 400);
    if (const std::uint32_t place = cache.Find(id); place != RowCache::kNone && random() % 2 == 0) cache.Use(place);
    Put(cache, id);
    ASSERT_TRUE(Has(cache, id));
    if (i % 500 != 0 || cache.size() < cache.capacity()) continue;
    std::size_t there = 0;
    for (std::int64_t each = 0; each < 400; ++each) there += Has(cache, each) ? 1u : 0u;
    ASSERT_EQ(there, cache.capacity());
  }
}

TEST(RowCache, HasNoRoomForARowThatExceedsItsBytes) { EXPECT_EQ(RowCache(100, 100, 10).capacity(), 0u); }

// A sanitizer brings an allocator of its own, which mallinfo2 knows nothing of.
#ifdef EMBD_SANITIZED
constexpr bool kKnowsAllocations = false;
#else
constexpr bool kKnowsAllocations = true;
#endif

std::size_t AllocatedBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(RowCache, TakesNoMoreMemoryThanItMay) {
  constexpr std::size_t kAllocators = 4096;  // what malloc adds to each block, and rounding to pages
  for (const std::size_t row_bytes : {2u, 8u, 100u, 3072u}) {
    for (const std::size_t max_bytes : {5'000u, 70'000u, 3'000'000u}) {
      SCOPED_TRACE(::testing::Message() << row_bytes << " of " << max_bytes);
      const std::size_t before = AllocatedBytes();
      RowCache cache(row_bytes, max_bytes, 1u << 22);
      const std::vector<std::byte> row(row_bytes);
      for (std::size_t id = 0; id < 2 * cache.capacity(); ++id) cache.Put(static_cast<std::int64_t>(id), row.data());
      const std::size_t taken = AllocatedBytes() - before - row.capacity();

      EXPECT_LE(cache.byte_size(), max_bytes);
      if (kKnowsAllocations) {
        EXPECT_LE(taken, max_bytes + 3 * kAllocators);
      }
      EXPECT_GT(cache.capacity() * (row_bytes + 60), max_bytes - row_bytes - 60) << "room is wasted";
    }
  }
}

}  // namespace
}  // namespace embd::client
