#include "server/core/kernels/score_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/kernels/simd_target.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

class ScoreRowsOnTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_THAT(CapSimdTarget(GetParam()), IsOk()); }
  void TearDown() override { ASSERT_THAT(CapSimdTarget("avx3"), IsOk()); }
};

INSTANTIATE_TEST_SUITE_P(AllTargets, ScoreRowsOnTarget, ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& target) { return target.param; });

std::vector<float> RandomFloats(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1.0);
  return values;
}

// As score_rows.h says it.
float Dot(const float* a, const float* b, std::size_t dim) {
  std::array<float, 16> sums = {};
  for (std::size_t i = 0; i < dim; ++i) sums[i % 16] += a[i] * b[i];
  for (std::size_t width = 8; width > 0; width /= 2) {
    for (std::size_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

TEST_P(ScoreRowsOnTarget, DotProductsHaveTheBitsOfTheDefinitionAtAnyShape) {
  for (const std::size_t dim : {1u, 2u, 7u, 15u, 16u, 17u, 31u, 32u, 63u, 64u, 65u, 100u, 768u}) {
    for (const std::size_t row_count : {1u, 3u, 4u, 9u}) {
      for (const std::size_t query_count : {1u, 2u, 4u, 7u}) {
        SCOPED_TRACE(absl::StrCat("dim ", dim, ", rows ", row_count, ", queries ", query_count));
        // What stands around must not be read: one NaN would show.
        std::vector<float> rows = RandomFloats(row_count * dim, dim);
        std::vector<float> queries = RandomFloats(query_count * dim, dim + 1);
        rows.insert(rows.begin(), kNan);
        rows.insert(rows.end(), 16, kNan);
        queries.insert(queries.begin(), kNan);
        queries.insert(queries.end(), 16, kNan);
        std::vector<float> dots(query_count * row_count + 1, -7.0f);
        std::vector<float> squares(row_count + 1, -7.0f);

        DotRows({.rows = rows.data() + 1,
                 .row_count = row_count,
                 .queries = queries.data() + 1,
                 .query_count = query_count,
                 .dim = dim,
                 .dots = dots.data(),
                 .squares = squares.data()});

        std::vector<float> expected_dots;
        for (std::size_t q = 0; q < query_count; ++q) {
          for (std::size_t r = 0; r < row_count; ++r) {
            expected_dots.push_back(Dot(&rows[1 + r * dim], &queries[1 + q * dim], dim));
          }
        }
        std::vector<float> expected_squares;
        for (std::size_t r = 0; r < row_count; ++r) {
          expected_squares.push_back(Dot(&rows[1 + r * dim], &rows[1 + r * dim], dim));
        }
        expected_dots.push_back(-7.0f);
        expected_squares.push_back(-7.0f);
        EXPECT_EQ(dots, expected_dots);
        EXPECT_EQ(squares, expected_squares);
      }
    }
  }
}

TEST_P(ScoreRowsOnTarget, DotProductsThatMayBeFusedAreAsGood) {
  constexpr std::size_t kDim = 100;
  const std::vector<float> rows = RandomFloats(9 * kDim, 1);
  const std::vector<float> queries = RandomFloats(5 * kDim, 2);
  std::vector<float> dots(5 * 9);
  std::vector<float> squares(9);

  DotRows({.rows = rows.data(),
           .row_count = 9,
           .queries = queries.data(),
           .query_count = 5,
           .dim = kDim,
           .dots = dots.data(),
           .squares = squares.data(),
           .may_fuse = true});

  for (std::size_t i = 0; i < dots.size(); ++i) {
    double dot = 0;
    double square = 0;
    for (std::size_t d = 0; d < kDim; ++d) {
      const double x = rows[i % 9 * kDim + d];
      dot += x * double{queries[i / 9 * kDim + d]};
      square += x * x;
    }
    // |row| and |query| are about 6.
    EXPECT_NEAR(double{dots[i]}, dot, 36 * 12 * 0x1p-24) << i;
    EXPECT_NEAR(double{squares[i % 9]}, square, 36 * 12 * 0x1p-24) << i;
  }
}

TEST_P(ScoreRowsOnTarget, InverseNormsAreThoseOfTheDefinition) {
  std::vector<float> squares = RandomFloats(21, 3);
  for (float& square : squares) square = std::fabs(square);
  squares[2] = 0.0f;
  squares[18] = 1e-20f;
  std::vector<float> inverse(squares.size());

  InverseNorms(squares.data(), squares.size(), 1e-8f, inverse.data());

  for (std::size_t i = 0; i < squares.size(); ++i) {
    EXPECT_EQ(inverse[i], 1.0f / std::max(std::sqrt(squares[i]), 1e-8f)) << i;
  }
}

TEST_P(ScoreRowsOnTarget, ScalesAndCountsWhatIsNotLess) {
  std::vector<float> values(21, 1.0f);
  const std::vector<float> factors(values.size(), 2.0f);
  const std::vector<float> terms(values.size(), 0.5f);
  values[1] = 3.0f;   // 6.5
  values[17] = kNan;  // not less
  values[20] = 4.0f;  // 8.5

  EXPECT_EQ(ScaleAndCount(factors.data(), terms.data(), values.size(), 6.5f, values.data()), 3u);

  EXPECT_EQ(values[0], 2.5f);
  EXPECT_EQ(values[1], 6.5f);
  EXPECT_EQ(values[20], 8.5f);
}

}  // namespace
}  // namespace embd::core
