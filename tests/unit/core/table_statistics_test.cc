#include "server/core/diagnostics/table_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/tensor/decode.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::MakeTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ElementType kTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
                                  ElementType::kFloat64};

// What the naive loops below find, in the widest type there is.
struct Reference {
  std::vector<long double> elements;
  std::vector<long double> norms;
  std::int64_t nan_count = 0;
  std::int64_t inf_count = 0;
  std::vector<std::int64_t> bad_rows, zero_rows, duplicates, duplicates_of;
};

Reference LookAtEachRow(const Table& table) {
  Reference found;
  std::map<std::string, std::int64_t> seen;
  std::vector<double> values(static_cast<std::size_t>(table.dim()));
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    DecodeToDouble(table.row(row), table.element_type(), values);
    long double squares = 0;
    bool zero = true;
    for (const double value : values) {
      found.nan_count += std::isnan(value);
      found.inf_count += std::isinf(value);
      if (std::isfinite(value)) found.elements.push_back(value);
      squares += static_cast<long double>(value) * value;
      zero = zero && value == 0;
    }
    std::isfinite(squares) ? found.norms.push_back(std::sqrt(squares)) : found.bad_rows.push_back(row);
    if (zero) found.zero_rows.push_back(row);
    const std::string bytes(reinterpret_cast<const char*>(table.row(row)), table.row_bytes());
    const auto [earlier, is_new] = seen.emplace(bytes, row);
    if (is_new) continue;
    found.duplicates.push_back(row);
    found.duplicates_of.push_back(earlier->second);
  }
  return found;
}

void ExpectMoments(const Moments& moments, const std::vector<long double>& values) {
  long double sum = 0, scale = 0, squares = 0;
  for (const long double value : values) sum += value, scale = std::max(scale, std::abs(value));
  const long double mean = sum / static_cast<long double>(values.size());
  for (const long double value : values) squares += (value - mean) * (value - mean);
  const auto deviation = static_cast<double>(std::sqrt(squares / static_cast<long double>(values.size())));
  EXPECT_EQ(moments.count, static_cast<std::int64_t>(values.size()));
  EXPECT_NEAR(moments.mean, static_cast<double>(mean), 1e-14 * static_cast<double>(scale));
  EXPECT_NEAR(moments.Deviation(), deviation, 1e-13 * deviation);
  const auto min = static_cast<double>(*std::min_element(values.begin(), values.end()));
  EXPECT_NEAR(moments.min, min, 1e-14 * std::abs(min));
  EXPECT_NEAR(moments.max, static_cast<double>(*std::max_element(values.begin(), values.end())), 1e-14 * moments.max);
}

std::vector<std::int64_t> Head(std::vector<std::int64_t> rows) {
  rows.resize(std::min(rows.size(), kMaxListedRows));
  return rows;
}

// Values from a few rows, so that some stand there twice; rows of zeros of both signs, of NaN and of infinity.
Table PlantedTable(std::int64_t rows, std::int64_t dim, ElementType type) {
  const Table some = embd::testing::SmallTable(rows, dim, ElementType::kFloat64, 5);
  std::vector<std::vector<double>> values(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    auto& into = values[static_cast<std::size_t>(row)];
    into.resize(static_cast<std::size_t>(dim));
    DecodeToDouble(some.row(row), ElementType::kFloat64, into);
    if (row % 7 == 3) into = values[static_cast<std::size_t>(row / 2)];
    if (row % 29 == 11) std::fill(into.begin(), into.end(), row % 2 == 0 ? 0.0 : -0.0);
    if (row % 31 == 12) into[static_cast<std::size_t>(row % dim)] = kNan;
    if (row % 37 == 13) into[static_cast<std::size_t>(dim - 1)] = -kInfinity;
  }
  return MakeTable(values, type);
}

// Shapes around the eight sums, the pieces of 4096 elements, the blocks of 65536 and the buckets of 4096 rows.
TEST(TableStatistics, EqualANaiveLoopForEveryStoredType) {
  for (const ElementType type : kTypes) {
    for (const auto& [rows, dim] : {std::tuple{40, 1}, {300, 7}, {100, 64}, {50, 4096}, {20, 9001}, {20000, 8}}) {
      SCOPED_TRACE(::testing::Message() << std::string(ElementTypeName(type)) << ' ' << rows << 'x' << dim);
      const Table table = PlantedTable(rows, dim, type);

      ASSERT_OK_AND_ASSIGN(const TableStatistics found, ComputeTableStatistics(table, 0, OneThread));

      const Reference reference = LookAtEachRow(table);
      ExpectMoments(found.elements, reference.elements);
      ExpectMoments(found.norms, reference.norms);
      EXPECT_EQ(found.nan_count, reference.nan_count);
      EXPECT_EQ(found.inf_count, reference.inf_count);
      EXPECT_THAT(found.bad_rows, ElementsAreArray(Head(reference.bad_rows)));
      EXPECT_EQ(found.first_bad_cell->first, reference.bad_rows.at(0));
      EXPECT_EQ(found.zero_rows, static_cast<std::int64_t>(reference.zero_rows.size()));
      EXPECT_THAT(found.first_zero_rows, ElementsAreArray(Head(reference.zero_rows)));
      EXPECT_EQ(found.duplicates.count, static_cast<std::int64_t>(reference.duplicates.size()));
      EXPECT_THAT(found.duplicates.first, ElementsAreArray(Head(reference.duplicates)));
      EXPECT_THAT(found.duplicates.of, ElementsAreArray(Head(reference.duplicates_of)));
    }
  }
}

TEST(TableStatistics, DependOnNoOrderOfThePieces) {
  const Table table = PlantedTable(30000, 16, ElementType::kFloat32);
  const auto backwards = [](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
    std::thread odd([&] {
      for (std::int64_t i = count - 1; i >= 0; --i) i % 2 == 1 ? piece(i) : void();
    });
    for (std::int64_t i = count - 1; i >= 0; --i) i % 2 == 0 ? piece(i) : void();
    odd.join();
    return absl::OkStatus();
  };

  ASSERT_OK_AND_ASSIGN(const TableStatistics one, ComputeTableStatistics(table, 0, OneThread));
  ASSERT_OK_AND_ASSIGN(const TableStatistics other, ComputeTableStatistics(table, 0, backwards));

  EXPECT_EQ(other.elements.mean, one.elements.mean);
  EXPECT_EQ(other.elements.squares, one.elements.squares);
  EXPECT_EQ(other.norms.mean, one.norms.mean);
  EXPECT_EQ(other.norms.squares, one.norms.squares);
  EXPECT_EQ(other.first_bad_cell, one.first_bad_cell);
  EXPECT_EQ(other.bad_rows, one.bad_rows);
  EXPECT_EQ(other.first_zero_rows, one.first_zero_rows);
  EXPECT_EQ(other.duplicates.first, one.duplicates.first);
  EXPECT_EQ(other.duplicates.of, one.duplicates.of);
}

TEST(TableStatistics, DeviationSurvivesALargeMean) {
  std::vector<std::vector<double>> rows(1000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = {1e9 + (i % 2 == 0 ? 1.0 : -1.0)};

  ASSERT_OK_AND_ASSIGN(const TableStatistics found,
                       ComputeTableStatistics(MakeTable(rows, ElementType::kFloat64), 0, OneThread));

  EXPECT_EQ(found.elements.mean, 1e9);
  EXPECT_EQ(found.elements.Deviation(), 1.0);
}

TEST(TableStatistics, FirstBadCellIsTheFirstOneRowByRow) {
  ASSERT_OK_AND_ASSIGN(
      const TableStatistics found,
      ComputeTableStatistics(MakeTable({{1, 2, 3}, {4, kInfinity, kNan}, {kNan, 0, 0}}), 0, OneThread));

  EXPECT_EQ(found.first_bad_cell, (std::pair<std::int64_t, std::int64_t>(1, 1)));
  EXPECT_EQ(found.nan_count, 2);
  EXPECT_EQ(found.inf_count, 1);
  EXPECT_THAT(found.bad_rows, ElementsAre(1, 2));
  EXPECT_EQ(found.zero_rows, 0);
  EXPECT_EQ(found.elements.count, 6);
  EXPECT_EQ(found.elements.max, 4.0);
  EXPECT_EQ(found.norms.count, 1);
  EXPECT_EQ(found.norms.min, std::sqrt(14.0));
}

TEST(TableStatistics, TableWithoutANumberHasZerosAndNoHistogram) {
  ASSERT_OK_AND_ASSIGN(const TableStatistics found,
                       ComputeTableStatistics(MakeTable({{kNan, kNan}, {kNan, kNan}}), 5, OneThread));

  EXPECT_EQ(found.elements.mean, 0.0);
  EXPECT_EQ(found.elements.Deviation(), 0.0);
  EXPECT_EQ(found.norms.max, 0.0);
  EXPECT_THAT(found.histogram.edges, IsEmpty());
  EXPECT_THAT(found.histogram.counts, IsEmpty());
  EXPECT_EQ(found.duplicates.count, 1) << "NaNs are compared by their bytes";
}

TEST(TableStatistics, ZerosOfBothSignsAreZeroRowsButNotEqual) {
  ASSERT_OK_AND_ASSIGN(const TableStatistics found,
                       ComputeTableStatistics(MakeTable({{0.0, 0.0}, {0.0, -0.0}, {0.0, 0.0}}), 0, OneThread));

  EXPECT_THAT(found.first_zero_rows, ElementsAre(0, 1, 2));
  EXPECT_THAT(found.duplicates.first, ElementsAre(2));
  EXPECT_THAT(found.duplicates.of, ElementsAre(0));
}

// Quadratic comparisons would take minutes.
TEST(TableStatistics, AMillionEqualRowsAreDuplicatesOfTheFirst) {
  const Table table = embd::testing::MakeFloatTable(1'000'000, 2, std::vector<float>(2'000'000, 0.0f));

  ASSERT_OK_AND_ASSIGN(const TableStatistics found, ComputeTableStatistics(table, 0, OneThread));

  EXPECT_EQ(found.duplicates.count, 999'999);
  EXPECT_THAT(found.duplicates.first, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16));
  EXPECT_THAT(found.duplicates.of, Each(0));
  EXPECT_EQ(found.zero_rows, 1'000'000);
}

TEST(TableStatistics, RowsOfOneHashAreToldApartByTheirBytes) {
  const Table table = MakeTable({{1}, {2}, {1}, {3}, {2}, {2}});
  const std::vector<std::uint64_t> hashes(6, 42);
  std::vector<std::int64_t> order(6);

  ASSERT_OK_AND_ASSIGN(const DuplicateRows found, FindDuplicateRows(table, hashes, order, 2, OneThread));

  EXPECT_EQ(found.count, 3);
  EXPECT_THAT(found.first, ElementsAre(2, 4));
  EXPECT_THAT(found.of, ElementsAre(0, 1));
}

TEST(TableStatistics, BinHasItsLowerEdgeAndTheLastOneBoth) {
  ASSERT_OK_AND_ASSIGN(const TableStatistics found,
                       ComputeTableStatistics(MakeTable({{1}, {2}, {-2}, {2.5}, {3}, {5}, {kNan}}), 4, OneThread));

  EXPECT_THAT(found.histogram.edges, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(found.histogram.counts, ElementsAre(1, 3, 1, 1));
}

TEST(TableStatistics, HistogramOfEqualNormsReachesHalfToEachSide) {
  ASSERT_OK_AND_ASSIGN(const TableStatistics found,
                       ComputeTableStatistics(MakeTable({{3, 4}, {4, 3}, {-5, 0}}), 2, OneThread));

  EXPECT_THAT(found.histogram.edges, ElementsAre(4.5, 5.0, 5.5));
  EXPECT_THAT(found.histogram.counts, ElementsAre(0, 3));
}

TEST(TableStatistics, RowWhoseSquaresOverflowHasNoNormButIsNotBad) {
  ASSERT_OK_AND_ASSIGN(const TableStatistics found,
                       ComputeTableStatistics(MakeTable({{1e200, 0}, {3, 4}}, ElementType::kFloat64), 0, OneThread));

  EXPECT_THAT(found.bad_rows, IsEmpty());
  EXPECT_EQ(found.elements.max, 1e200);
  EXPECT_EQ(found.norms.count, 1);
  EXPECT_EQ(found.norms.max, 5.0);
}

TEST(TableStatistics, RefuseMoreBinsThanThereMayBe) {
  const Table table = MakeTable({{1}});

  for (const std::int64_t bins : {-1, 1025}) {
    EXPECT_THAT(ComputeTableStatistics(table, bins, OneThread),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                               "histogram_bins = " + std::to_string(bins) + " is outside [0, 1024]"),
                      ReasonIs("INVALID_OPTION")));
  }
  EXPECT_THAT(ComputeTableStatistics(table, 1024, OneThread), IsOk());
}

TEST(TableStatistics, EndWhereTheSharingEnds) {
  for (const int shares_before : {0, 1}) {
    int shares = 0;
    const auto share = [&](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
      return shares++ == shares_before ? absl::CancelledError("enough") : OneThread(count, piece);
    };

    EXPECT_THAT(ComputeTableStatistics(MakeTable({{1}}), 0, share), StatusIs(absl::StatusCode::kCancelled, "enough"));
  }
}

}  // namespace
}  // namespace embd::core
