#include "server/core/diagnostics/neighbour_similarity.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/position/sinusoidal.h"
#include "server/core/table/seeded_table.h"
#include "server/core/tensor/decode.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::MakeTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsNan;
using ::testing::Pointwise;
using ::testing::SizeIs;

std::vector<std::vector<double>> RandomRows(std::size_t rows, std::size_t dim) {
  std::mt19937_64 random(3);
  std::vector<std::vector<double>> values(rows, std::vector<double>(dim));
  for (auto& row : values) {
    for (double& value : row) value = static_cast<double>(random() >> 11) * 0x1p-52 - 0.9;
  }
  return values;
}

// The curve by its definition, row by row.
NeighbourCurve ReferenceCurve(const Table& table, std::int64_t first, std::int64_t count, std::int64_t max_offset) {
  const auto row = [&table](std::int64_t index) {
    std::vector<double> values(static_cast<std::size_t>(table.dim()));
    DecodeToDouble(table.row(index), table.element_type(), values);
    return values;
  };
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  const auto norm = [&dot](const std::vector<double>& a) { return std::max(std::sqrt(dot(a, a)), 1e-8); };
  NeighbourCurve curve;
  for (std::int64_t k = 1; k <= max_offset; ++k) {
    double sum = 0, min = 2, max = -2;
    for (std::int64_t p = first; p + k < first + count; ++p) {
      const double cosine = dot(row(p), row(p + k)) / (norm(row(p)) * norm(row(p + k)));
      sum += cosine;
      min = std::min(min, cosine);
      max = std::max(max, cosine);
    }
    curve.mean.push_back(sum / static_cast<double>(count - k));
    curve.min.push_back(min);
    curve.max.push_back(max);
  }
  return curve;
}

TEST(NeighbourSimilarity, SinusoidalTableOfWidth64HasTheKnownCurve) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(128, 64));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {}));

  const std::vector<double> known = {0.966151, 0.884496, 0.799595, 0.747949, 0.734499, 0.736231, 0.727010, 0.700435};
  EXPECT_THAT(curve.mean, Pointwise(DoubleNear(1e-6), known));
  EXPECT_THAT(curve.min, Pointwise(DoubleNear(1e-6), known));
  EXPECT_THAT(curve.max, Pointwise(DoubleNear(1e-6), known));
  EXPECT_EQ(curve.rows, 128);
  EXPECT_EQ(curve.zero_rows, 0);
}

TEST(NeighbourSimilarity, SinusoidalCurveDecaysInFourOfFiveSteps) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(128, 64));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {.max_offset = 6}));

  EXPECT_GT(curve.mean[0], curve.mean[5]);
  EXPECT_EQ(curve.monotone_steps, 4);
}

TEST(NeighbourSimilarity, SinusoidalTableOfWidth32HasTheKnownCurve) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(128, 32));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {.max_offset = 6}));

  EXPECT_THAT(curve.mean, Pointwise(DoubleNear(1e-6),
                                    std::vector<double>{0.957103, 0.858134, 0.767025, 0.728844, 0.736086, 0.743234}));
  EXPECT_EQ(curve.monotone_steps, 3);
}

TEST(NeighbourSimilarity, ClosedFormIsTheCurveOfTheTable) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(300, 64, {.base = 500}));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {.max_offset = 299}));

  EXPECT_THAT(curve.mean, Pointwise(DoubleNear(1e-6), SinusoidalClosedForm(64, 500, 299)));
}

TEST(NeighbourSimilarity, LearnedRowsAtTheirStartAreUnrelated) {
  ASSERT_OK_AND_ASSIGN(const Table table, SeededTable(128, 64, 0, 0.02, 11, SeedStream::kPosition));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {}));

  // One cosine has standard deviation 1/8, the mean of 120 of them 0.011.
  EXPECT_THAT(curve.mean, Each(DoubleNear(0.0, 0.05)));
}

// Shapes around the tiles of 64 rows and the eight sums, offsets within and across tiles.
TEST(NeighbourSimilarity, EqualsTheDefinitionForEveryStoredType) {
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16, ElementType::kFloat64}) {
    for (const auto& [rows, dim, max_offset] :
         {std::tuple{2, 1, 1}, {20, 8, 5}, {64, 7, 63}, {65, 9, 64}, {200, 17, 130}}) {
      SCOPED_TRACE(::testing::Message() << std::string(ElementTypeName(type)) << ' ' << rows << 'x' << dim);
      const Table table = MakeTable(RandomRows(static_cast<std::size_t>(rows), static_cast<std::size_t>(dim)), type);

      ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {.max_offset = max_offset}));

      const NeighbourCurve reference = ReferenceCurve(table, 0, rows, max_offset);
      EXPECT_THAT(curve.mean, Pointwise(DoubleNear(1e-13), reference.mean));
      EXPECT_THAT(curve.min, Pointwise(DoubleNear(1e-13), reference.min));
      EXPECT_THAT(curve.max, Pointwise(DoubleNear(1e-13), reference.max));
    }
  }
}

TEST(NeighbourSimilarity, LooksAtTheWindowAlone) {
  const Table table = MakeTable(RandomRows(150, 5));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve,
                       NeighbourSimilarity(table, {.max_offset = 70, .first_row = 30, .row_count = 100}));

  const NeighbourCurve reference = ReferenceCurve(table, 30, 100, 70);
  EXPECT_EQ(curve.rows, 100);
  EXPECT_THAT(curve.mean, Pointwise(DoubleNear(1e-13), reference.mean));
}

TEST(NeighbourSimilarity, CurveHasOneValueAnOffset) {
  const Table table = MakeTable(RandomRows(20, 8));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve five, NeighbourSimilarity(table, {.max_offset = 5}));
  ASSERT_OK_AND_ASSIGN(const NeighbourCurve by_default, NeighbourSimilarity(table, {}));
  ASSERT_OK_AND_ASSIGN(const NeighbourCurve window, NeighbourSimilarity(table, {.first_row = 16}));

  EXPECT_THAT(five.mean, SizeIs(5));
  EXPECT_THAT(by_default.mean, SizeIs(8));
  EXPECT_THAT(window.mean, SizeIs(3)) << "one less than the rows";
}

TEST(NeighbourSimilarity, ZeroRowsHaveCosineZero) {
  const Table table = MakeTable({{3, 4}, {0, 0}, {6, 8}, {1e-9, 0}});

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {.max_offset = 2}));

  EXPECT_EQ(curve.zero_rows, 2);
  EXPECT_EQ(curve.min[0], 0.0);
  EXPECT_EQ(curve.max[1], 1.0);
  EXPECT_THAT(curve.mean, ElementsAre(DoubleNear(0.02, 1e-9), DoubleNear(0.5, 1e-9)));
}

TEST(NeighbourSimilarity, ParallelRowsNeverExceedOne) {
  std::vector<std::vector<double>> rows = RandomRows(1, 37);
  for (int i = 1; i < 50; ++i) {
    rows.push_back(rows[0]);
    for (double& value : rows.back()) value *= i % 2 == 0 ? 1.1 * i : -0.7 * i;
  }

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(MakeTable(rows, ElementType::kFloat64), {}));

  for (const double max : curve.max) EXPECT_LE(max, 1.0);
  for (const double min : curve.min) EXPECT_GE(min, -1.0);
}

TEST(NeighbourSimilarity, ANaNRowSpoilsTheOffsetsThatMeetIt) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Table table = MakeTable({{1, 2}, {nan, 1}, {2, 1}, {1, 1}});

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {.max_offset = 3}));

  EXPECT_THAT(curve.mean, ElementsAre(IsNan(), IsNan(), DoubleNear(3 / std::sqrt(10), 1e-15)));
  EXPECT_THAT(curve.min[0], IsNan());
  EXPECT_THAT(curve.max[1], IsNan());
  EXPECT_EQ(curve.zero_rows, 0);
}

TEST(NeighbourSimilarity, InfiniteRowsGiveNaN) {
  const Table table = MakeTable({{std::numeric_limits<double>::infinity(), 1}, {1, 1}});

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {}));

  EXPECT_THAT(curve.mean, ElementsAre(IsNan()));
}

TEST(NeighbourSimilarity, RefusesOptionsOutsideTheirRange) {
  const Table table = MakeTable(std::vector<std::vector<double>>(5000, {1}));
  const auto refusal = [](const Table& of, const NeighbourOptions& options) {
    const auto result = NeighbourSimilarity(of, options);
    EXPECT_THAT(result, ReasonIs("INVALID_OPTION"));
    return std::string(result.status().message());
  };

  EXPECT_EQ(refusal(table, {.max_offset = -1}), "max_offset must be >= 1, got -1");
  EXPECT_EQ(refusal(table, {.max_offset = 4097}), "max_offset must be <= 4096, got 4097");
  EXPECT_EQ(refusal(table, {.max_offset = 10, .row_count = 10}), "max_offset 10 must be < number of rows 10");
  EXPECT_EQ(refusal(table, {.first_row = 4999}), "max_offset 1 must be < number of rows 1");
  EXPECT_EQ(refusal(table, {.first_row = -1}), "first_row = -1 is outside [0, 5000)");
  EXPECT_EQ(refusal(table, {.first_row = 5000}), "first_row = 5000 is outside [0, 5000)");
  EXPECT_EQ(refusal(table, {.row_count = -2}), "row_count must be >= 0, got -2");
  EXPECT_EQ(refusal(table, {.first_row = 1, .row_count = 5000}),
            "row_count 5000 from first_row 1 exceeds the number of rows 5000");
  EXPECT_EQ(refusal(table, {.first_row = 1, .row_count = std::numeric_limits<std::int64_t>::max()}),
            "row_count 9223372036854775807 from first_row 1 exceeds the number of rows 5000");
}

TEST(NeighbourSimilarity, TakesTheLargestOffset) {
  const Table table = MakeTable(std::vector<std::vector<double>>(4097, {2}));

  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve, NeighbourSimilarity(table, {.max_offset = 4096}));

  EXPECT_THAT(curve.mean, SizeIs(4096));
  EXPECT_EQ(curve.mean.back(), 1.0);
  EXPECT_EQ(curve.monotone_steps, 4095);
}

TEST(NeighbourSimilarity, StopsWhenAsked) {
  const Table table = MakeTable(RandomRows(1000, 4));
  for (const int calls_before : {0, 1, 20}) {
    SCOPED_TRACE(calls_before);
    int calls = 0;

    const auto result = NeighbourSimilarity(table, {}, [&] { return calls++ == calls_before; });

    EXPECT_THAT(result, StatusIs(absl::StatusCode::kCancelled, ::testing::_));
    EXPECT_EQ(calls, calls_before + 1);
  }
}

}  // namespace
}  // namespace embd::core
