#include "server/core/kernels/layer_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/kernels/simd_target.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::FloatsOf;
using ::embd::testing::IsOk;
using ::embd::testing::SmallTable;

std::vector<float> Row(std::int64_t dim, std::uint64_t seed) {
  return FloatsOf(SmallTable(1, dim, ElementType::kFloat32, seed));
}

// In long double, in the order of the elements: exact as far as float32 can tell.
std::vector<long double> Exact(const LayerNormParameters& norm, const std::vector<float>& row) {
  long double sum = 0;
  for (const float x : row) sum += static_cast<long double>(x);
  const long double mean = sum / static_cast<long double>(row.size());
  long double squares = 0;
  for (const float x : row) squares += (static_cast<long double>(x) - mean) * (static_cast<long double>(x) - mean);
  const long double variance = squares / static_cast<long double>(row.size());
  std::vector<long double> result;
  for (std::size_t i = 0; i < row.size(); ++i) {
    result.push_back((static_cast<long double>(row[i]) - mean) /
                         std::sqrt(variance + static_cast<long double>(norm.eps)) *
                         static_cast<long double>(norm.weight[i]) +
                     static_cast<long double>(norm.bias[i]));
  }
  return result;
}

TEST(LayerNorm, LiesWithinFourUlpOfTheLargestExactResult) {
  for (const std::int64_t dim : {1, 2, 3, 7, 16, 17, 70, 768, 4096}) {
    for (const double scale : {1e-20, 1.0, 1e15}) {
      SCOPED_TRACE(absl::StrCat("dim ", dim, ", scale ", scale));
      const LayerNormParameters norm = {.weight = Row(dim, 1), .bias = Row(dim, 2), .eps = 1e-12};
      std::vector<float> row = Row(dim, 3);
      for (float& x : row) x = static_cast<float>(static_cast<double>(x) * scale + scale);
      const std::vector<long double> exact = Exact(norm, row);
      long double largest = 0;
      for (const long double y : exact) largest = std::max(largest, std::abs(y));
      const auto top = static_cast<float>(largest);
      const long double ulp = static_cast<long double>(std::nextafter(top, std::numeric_limits<float>::infinity())) -
                              static_cast<long double>(top);

      LayerNormRows(norm, 1, row.data());

      for (std::size_t i = 0; i < row.size(); ++i) {
        ASSERT_LE(std::abs(static_cast<long double>(row[i]) - exact[i]), 4 * ulp) << i;
      }
    }
  }
}

// mean 2.5, variance 1.25: what torch.nn.functional.layer_norm says of it.
TEST(LayerNorm, UsesTheBiasedVariance) {
  const LayerNormParameters norm = {.weight = {1, 1, 1, 1}, .bias = {0, 0, 0, 0}, .eps = 0};
  std::vector<float> row = {1, 2, 3, 4};

  LayerNormRows(norm, 1, row.data());

  EXPECT_THAT(row, ::testing::Pointwise(::testing::FloatNear(1e-6f),
                                        std::vector<float>{-1.341641f, -0.447214f, 0.447214f, 1.341641f}));
}

TEST(LayerNorm, EqualElementsGiveTheBias) {
  const LayerNormParameters norm = {.weight = {2, 2, 2}, .bias = {5, 6, 7}, .eps = 1e-12};
  std::vector<float> row = {3, 3, 3};

  LayerNormRows(norm, 1, row.data());

  EXPECT_THAT(row, ::testing::ElementsAre(5, 6, 7));
}

TEST(LayerNorm, RowsDoNotMix) {
  const LayerNormParameters norm = {.weight = Row(19, 1), .bias = Row(19, 2), .eps = 1e-5};
  std::vector<float> first = Row(19, 3);
  std::vector<float> second = Row(19, 4);
  std::vector<float> both = first;
  both.insert(both.end(), second.begin(), second.end());

  LayerNormRows(norm, 2, both.data());
  LayerNormRows(norm, 1, first.data());
  LayerNormRows(norm, 1, second.data());

  first.insert(first.end(), second.begin(), second.end());
  EXPECT_EQ(both, first);
}

}  // namespace
}  // namespace embd::core
