#include "server/core/diagnostics/shift_property.h"

#include <cmath>
#include <limits>
#include <string>
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
using Rows = std::vector<std::vector<double>>;

StoredRows RowsOf(const Table& table) {
  return {.row = [&table](std::int64_t position) { return table.row(position); },
          .type = table.element_type(),
          .dim = table.dim()};
}

ShiftResidual Rotate(const Table& table, const SinusoidalFormula& formula, const ShiftWindow& window) {
  const auto read = [&table](std::int64_t position, std::span<double> out) {
    DecodeToDouble(table.row(position), table.element_type(), out);
  };
  return RotationResidual(SinusoidalBands(table.dim(), formula), table.dim(), window, read).value();
}

// tests/golden/shift_map.py says the same.
Rows GoldenRows(int rows, int dim, bool dependent) {
  Rows values;
  for (int p = 0; p < rows; ++p) {
    values.emplace_back();
    for (int d = 0; d < dim; ++d) {
      values.back().push_back((7 * p * p + 31 * p * d + 3 * d * d + 5 * (p + d) * (p + d) * (p + d)) % 101 / 64.0);
    }
    if (dependent) values.back().push_back(values.back()[0] + 2 * values.back()[1]);
    if (dependent) values.back().push_back(0);
  }
  return values;
}

TEST(RotationResidual, IsWhatRoundingLeavesInEveryLayout) {
  for (const auto layout :
       {SinusoidalLayout::kInterleaved, SinusoidalLayout::kHalf, SinusoidalLayout::kTensor2Tensor}) {
    for (const std::int64_t offset : {1, 7, 100}) {
      SCOPED_TRACE(::testing::Message() << std::string(SinusoidalLayoutName(layout)) << ' ' << offset);
      const SinusoidalFormula formula = {.layout = layout};
      ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(128, 64, formula));

      const ShiftResidual residual = Rotate(table, formula, {.rows = 128, .offset = offset});

      EXPECT_LT(residual.max, 1e-6);
      EXPECT_GT(residual.max, 1e-9) << "rows are rounded to float32";
      EXPECT_LT(residual.rms, residual.max);
    }
  }
}

TEST(RotationResidual, LooksAtWholeBandsOnlyWhereTheWidthIsOdd) {
  const SinusoidalFormula formula = {.layout = SinusoidalLayout::kHalf};
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(50, 7, formula));

  EXPECT_LT(Rotate(table, formula, {.rows = 50, .offset = 3}).max, 1e-6);
}

TEST(RotationResidual, FindsWhatIsNoRotation) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(50, 8));
  std::vector<float> values = testing::FloatsOf(table);
  values[20 * 8 + 5] += 0.25f;

  const ShiftResidual residual = Rotate(testing::MakeFloatTable(50, 8, values), {}, {.rows = 50, .offset = 4});

  EXPECT_NEAR(residual.max, 0.25, 1e-6);
  EXPECT_EQ(residual.worst_position, 16);
  EXPECT_EQ(residual.worst_column, 5);
}

TEST(BestMapResidual, IsThatOfNumpysLeastSquares) {
  struct Case {
    int rows, dim;
    bool dependent;
    int offset;
    double max, rms;
    std::int64_t position, column;
  };
  const Case cases[] = {{20, 7, false, 2, 0.9784205176822867, 0.4050423759757414, 5, 6},
                        {64, 16, false, 1, 1.3932602998513974, 0.40462142870870615, 10, 6},
                        {20, 7, true, 3, 2.003184987231064, 0.49042900443569876, 15, 7}};
  for (const Case& c : cases) {
    SCOPED_TRACE(::testing::Message() << c.rows << 'x' << c.dim << (c.dependent ? ", dependent" : ""));
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat64}) {
      const Table table = MakeTable(GoldenRows(c.rows, c.dim, c.dependent), type);

      ASSERT_OK_AND_ASSIGN(const ShiftResidual residual,
                           BestMapResidual(RowsOf(table), {.rows = c.rows, .offset = c.offset}));

      EXPECT_NEAR(residual.max, c.max, 1e-12);
      EXPECT_NEAR(residual.rms, c.rms, 1e-12);
      EXPECT_EQ(residual.worst_position, c.position);
      EXPECT_EQ(residual.worst_column, c.column);
    }
  }
}

TEST(BestMapResidual, IsZeroWhereThereAreNoMoreRowsThanColumns) {
  const Table table = MakeTable(GoldenRows(9, 12, false));

  EXPECT_EQ(BestMapResidual(RowsOf(table), {.rows = 9, .offset = 4})->max, 0);
}

// Rows that are all alike have rank 1, however many columns there are: a map still cannot tell them apart.
TEST(BestMapResidual, IsNotZeroForFewRowsThatDependOnEachOther) {
  const Table table = MakeTable({{1, 2, 3, 4}, {1, 2, 3, 4}, {5, 0, 0, 0}});

  ASSERT_OK_AND_ASSIGN(const ShiftResidual residual, BestMapResidual(RowsOf(table), {.rows = 3, .offset = 1}));

  EXPECT_NEAR(residual.max, 2.0, 1e-12) << "both become the mean of 1 and 5";
}

TEST(BestMapResidual, IsLargeForRowsAtTheirStartAndTinyForSinusoids) {
  ASSERT_OK_AND_ASSIGN(const Table learned, SeededTable(128, 64, 0, 0.02, 11, SeedStream::kPosition));
  ASSERT_OK_AND_ASSIGN(const Table sinusoidal, SinusoidalTable(128, 64));

  EXPECT_GT(BestMapResidual(RowsOf(learned), {.rows = 128, .offset = 1})->max, 0.01);
  EXPECT_LT(BestMapResidual(RowsOf(sinusoidal), {.rows = 128, .offset = 1})->max, 1e-5);
}

TEST(BestMapResidual, NamesTheCellThatIsNoNumber) {
  Rows rows = GoldenRows(20, 20, false);
  rows[19][18] = std::numeric_limits<double>::quiet_NaN();  // of a later row only
  const Table last = MakeTable(rows);
  rows[3][2] = std::numeric_limits<double>::infinity();
  const Table both = MakeTable(rows);

  ASSERT_OK_AND_ASSIGN(const ShiftResidual later, BestMapResidual(RowsOf(last), {.rows = 20, .offset = 2}));
  ASSERT_OK_AND_ASSIGN(const ShiftResidual earlier, BestMapResidual(RowsOf(both), {.rows = 20, .offset = 2}));

  EXPECT_TRUE(std::isnan(later.max));
  EXPECT_EQ(later.worst_position, 17);
  EXPECT_EQ(later.worst_column, 18);
  EXPECT_TRUE(std::isnan(earlier.rms));
  EXPECT_EQ(earlier.worst_position, 3);
  EXPECT_EQ(earlier.worst_column, 2);
}

TEST(BestMapResidual, RefusesMoreThanFitsIntoItsMemory) {
  const StoredRows wide = {.row = nullptr, .type = ElementType::kFloat32, .dim = 4096};

  EXPECT_THAT(BestMapResidual(wide, {.rows = 4098, .offset = 1}),
              ::testing::AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                        "max_context_length 4098 less offset 1 times embedding_dim 4096 is more than "
                                        "the 16777216 elements that a map is fitted to; ask for fewer positions"),
                               ReasonIs("INVALID_OPTION")));
}

TEST(ShiftResidual, StopsWhenAsked) {
  const Table table = MakeTable(GoldenRows(40, 20, false));
  for (const int calls_before : {0, 1, 2, 25}) {
    SCOPED_TRACE(calls_before);
    int calls = 0;
    EXPECT_THAT(BestMapResidual(RowsOf(table), {.rows = 40, .offset = 1}, [&] { return calls++ == calls_before; }),
                StatusIs(absl::StatusCode::kCancelled, ::testing::_));
    EXPECT_EQ(calls, calls_before + 1);
  }
  const auto nothing = [](std::int64_t, std::span<double>) {};
  EXPECT_THAT(RotationResidual({}, 20, {.rows = 40, .offset = 1}, nothing, [] { return true; }),
              StatusIs(absl::StatusCode::kCancelled, ::testing::_));
}

TEST(ResolveShift, FillsInWhatIsNotSaid) {
  ASSERT_OK_AND_ASSIGN(const ShiftWindow window, ResolveShift(0, 0, 128, 1000));

  EXPECT_EQ(window.rows, 128);
  EXPECT_EQ(window.offset, 1);
}

TEST(ResolveShift, RefusesWhatIsOutsideItsRange) {
  const auto refusal = [](std::int64_t rows, std::int64_t offset, std::int64_t available) {
    const auto result = ResolveShift(rows, offset, 128, available);
    EXPECT_THAT(result, ReasonIs("INVALID_OPTION"));
    return std::string(result.status().message());
  };

  EXPECT_EQ(refusal(0, -1, 1000), "offset must be >= 1, got -1");
  EXPECT_EQ(refusal(-2, 1, 1000), "max_context_length must be from offset + 1 to 1000, got -2");
  EXPECT_EQ(refusal(1001, 1, 1000), "max_context_length must be from offset + 1 to 1000, got 1001");
  EXPECT_EQ(refusal(65537, 1, 100000), "max_context_length must be from offset + 1 to 65536, got 65537");
  EXPECT_EQ(refusal(0, 128, 1000), "offset 128 must be < max_context_length 128");
}

}  // namespace
}  // namespace embd::core
