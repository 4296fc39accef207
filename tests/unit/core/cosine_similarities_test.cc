#include "server/core/diagnostics/cosine_similarities.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/tensor/decode.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::MakeTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::SmallTable;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::IsNan;
using ::testing::SizeIs;

double ReferenceCosine(const Table& table, std::int64_t a, std::int64_t b) {
  std::vector<double> left(static_cast<std::size_t>(table.dim()));
  std::vector<double> right(left.size());
  DecodeToDouble(table.row(a), table.element_type(), left);
  DecodeToDouble(table.row(b), table.element_type(), right);
  const auto dot = [](const auto& x, const auto& y) { return std::inner_product(x.begin(), x.end(), y.begin(), 0.0); };
  return dot(left, right) / (std::max(std::sqrt(dot(left, left)), 1e-8) * std::max(std::sqrt(dot(right, right)), 1e-8));
}

// Widths around the eight sums; counts around the tiles of 64 rows, and rows so wide that a tile holds one.
TEST(CosineSimilarities, EqualTheDefinitionForEveryStoredType) {
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16, ElementType::kFloat64}) {
    for (const auto& [rows, dim] : {std::pair{1, 1}, {63, 7}, {64, 8}, {130, 17}, {9, 20000}, {3, 70000}}) {
      SCOPED_TRACE(::testing::Message() << std::string(ElementTypeName(type)) << ' ' << rows << 'x' << dim);
      const Table table = SmallTable(rows, dim, type, 3);

      ASSERT_OK_AND_ASSIGN(const CosineMatrix matrix, CosineSimilarities(table, {.row_count = rows}, OneThread));

      ASSERT_THAT(matrix.cosines, SizeIs(static_cast<std::size_t>(rows * rows)));
      for (std::int64_t a = 0; a < rows; ++a) {
        for (std::int64_t b = 0; b < rows; ++b) {
          EXPECT_NEAR(matrix.cosines[static_cast<std::size_t>(a * rows + b)], ReferenceCosine(table, a, b), 6e-8);
        }
      }
    }
  }
}

TEST(CosineSimilarities, ComparesTheRowsThatAreNamed) {
  const Table table = MakeTable({{1, 0}, {0, 2}, {3, 4}});

  ASSERT_OK_AND_ASSIGN(const CosineMatrix matrix, CosineSimilarities(table, {.row_ids = {2, 0, 2}}, OneThread));

  EXPECT_THAT(matrix.row_ids, ElementsAre(2, 0, 2));
  EXPECT_THAT(matrix.cosines, ElementsAre(1.0f, 0.6f, 1.0f, 0.6f, 1.0f, 0.6f, 1.0f, 0.6f, 1.0f));
}

TEST(CosineSimilarities, WindowIsOf64RowsOrOfWhatThereIs) {
  const Table table = SmallTable(100, 2, ElementType::kFloat32, 1);

  EXPECT_THAT(CosineSimilarities(table, {}, OneThread)->row_ids, SizeIs(64));
  EXPECT_THAT(CosineSimilarities(table, {.first_row = 97}, OneThread)->row_ids, ElementsAre(97, 98, 99));
  EXPECT_THAT(CosineSimilarities(table, {.first_row = 1, .row_count = 2}, OneThread)->row_ids, ElementsAre(1, 2));
}

TEST(CosineSimilarities, ZeroRowHasCosineZeroWithItselfToo) {
  ASSERT_OK_AND_ASSIGN(const CosineMatrix matrix,
                       CosineSimilarities(MakeTable({{0, 0}, {1, 2}}), {.row_count = 2}, OneThread));

  EXPECT_THAT(matrix.cosines, ElementsAre(0.0f, 0.0f, 0.0f, 1.0f));
}

TEST(CosineSimilarities, RowsThatAreNotFiniteGiveNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();

  ASSERT_OK_AND_ASSIGN(const CosineMatrix matrix,
                       CosineSimilarities(MakeTable({{1, nan}, {1, 1}, {infinity, 1}}), {}, OneThread));

  EXPECT_THAT(matrix.cosines,
              ElementsAre(IsNan(), IsNan(), IsNan(), IsNan(), 1.0f, IsNan(), IsNan(), IsNan(), IsNan()));
}

TEST(CosineSimilarities, TakesTheMostRowsThatMayBe) {
  const Table table = SmallTable(1100, 3, ElementType::kFloat32, 1);

  ASSERT_OK_AND_ASSIGN(const CosineMatrix matrix,
                       CosineSimilarities(table, {.first_row = 76, .row_count = 1024}, OneThread));

  EXPECT_THAT(matrix.cosines, SizeIs(1024 * 1024));
  EXPECT_NEAR(matrix.cosines[1023], ReferenceCosine(table, 76, 1099), 6e-8);
  EXPECT_EQ(matrix.cosines[1023 * 1024], matrix.cosines[1023]);
}

TEST(CosineSimilarities, RefuseOptionsOutsideTheirRange) {
  const Table table = SmallTable(2000, 1, ElementType::kFloat32, 1);
  const auto refusal = [&table](CosineOptions options, const char* reason) {
    const auto result = CosineSimilarities(table, std::move(options), OneThread);
    EXPECT_THAT(result, ReasonIs(reason));
    return std::string(result.status().message());
  };

  EXPECT_EQ(refusal({.first_row = -1}, "INVALID_OPTION"), "first_row = -1 is outside [0, 2000)");
  EXPECT_EQ(refusal({.first_row = 2000}, "INVALID_OPTION"), "first_row = 2000 is outside [0, 2000)");
  EXPECT_EQ(refusal({.row_count = -1}, "INVALID_OPTION"), "row_count = -1 is outside [0, 1024]");
  EXPECT_EQ(refusal({.row_count = 1025}, "INVALID_OPTION"), "row_count = 1025 is outside [0, 1024]");
  EXPECT_EQ(refusal({.first_row = 1999, .row_count = 2}, "INVALID_OPTION"),
            "row_count 2 from first_row 1999 exceeds the number of rows 2000");
  EXPECT_EQ(refusal({.row_count = 1, .row_ids = {0}}, "INVALID_OPTION"), "row_ids excludes first_row and row_count");
  EXPECT_EQ(refusal({.row_ids = std::vector<std::int64_t>(1025)}, "INVALID_OPTION"),
            "row_ids names 1025 rows; at most 1024 are allowed");
  EXPECT_EQ(refusal({.row_ids = {0, 2000}}, "ID_OUT_OF_RANGE"), "row_ids[1] = 2000 is not in [0, 2000)");
  EXPECT_EQ(refusal({.row_ids = {-1}}, "ID_OUT_OF_RANGE"), "row_ids[0] = -1 is not in [0, 2000)");
}

TEST(CosineSimilarities, EndWhereTheSharingEnds) {
  const auto share = [](std::int64_t, absl::FunctionRef<void(std::int64_t)>) { return absl::CancelledError("enough"); };

  EXPECT_THAT(CosineSimilarities(MakeTable({{1}}), {}, share), StatusIs(absl::StatusCode::kCancelled, "enough"));
}

}  // namespace
}  // namespace embd::core
