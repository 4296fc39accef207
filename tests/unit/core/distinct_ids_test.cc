#include "server/core/engine/distinct_ids.h"

#include <functional>
#include <limits>
#include <map>
#include <random>
#include <vector>

#include "gmock/gmock.h"

namespace embd::core {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(DistinctIds, AreInTheOrderOfTheirFirstCells) {
  const std::vector<std::int64_t> ids = {7, 3, 7, 7, 0, 3};

  const DistinctIds distinct = FindDistinct(ids);

  EXPECT_THAT(distinct.ids, ElementsAre(7, 3, 0));
  EXPECT_THAT(distinct.inverse, ElementsAre(0, 1, 0, 0, 2, 1));
}

TEST(DistinctIds, OfNothingAreNone) {
  const DistinctIds distinct = FindDistinct({});

  EXPECT_THAT(distinct.ids, IsEmpty());
  EXPECT_THAT(distinct.inverse, IsEmpty());
}

TEST(DistinctIds, MayBeAnyNumbers) {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> ids = {kMin, kMax, -1, kMin, 0, kMax};

  const DistinctIds distinct = FindDistinct(ids);

  EXPECT_THAT(distinct.ids, ElementsAre(kMin, kMax, -1, 0));
  EXPECT_THAT(distinct.inverse, ElementsAre(0, 1, 2, 0, 3, 1));
}

// The table of the hashes grows many times; numbers that follow each other, that differ in their high bits alone, and
// random ones.
TEST(DistinctIds, OfManyCellsAreThoseOfAMap) {
  std::mt19937_64 random(5);
  for (const auto& next : {std::function<std::int64_t(std::int64_t)>([](std::int64_t i) { return i; }),
                           std::function<std::int64_t(std::int64_t)>([](std::int64_t i) { return i << 40; }),
                           std::function<std::int64_t(std::int64_t)>(
                               [&random](std::int64_t) { return static_cast<std::int64_t>(random() % 3000); })}) {
    std::vector<std::int64_t> ids, expected_ids, expected_inverse;
    std::map<std::int64_t, std::int64_t> numbers;
    for (std::int64_t i = 0; i < 20'000; ++i) {
      ids.push_back(next(i));
      const auto [found, is_new] = numbers.emplace(ids.back(), static_cast<std::int64_t>(numbers.size()));
      if (is_new) expected_ids.push_back(ids.back());
      expected_inverse.push_back(found->second);
    }

    const DistinctIds distinct = FindDistinct(ids);

    EXPECT_EQ(distinct.ids, expected_ids);
    EXPECT_EQ(distinct.inverse, expected_inverse);
  }
}

}  // namespace
}  // namespace embd::core
