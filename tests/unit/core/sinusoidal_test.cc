#include "server/core/position/sinusoidal.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::FloatsOf;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::FloatNear;
using ::testing::Pointwise;

std::vector<float> RowOf(const Table& table, std::int64_t row) {
  const std::vector<float> all = FloatsOf(table);
  return {all.begin() + row * table.dim(), all.begin() + (row + 1) * table.dim()};
}

TEST(SinusoidalTable, RowsOfWidthEight) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(4, 8));

  EXPECT_THAT(RowOf(table, 0), ::testing::ElementsAre(0, 1, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(RowOf(table, 1),
              Pointwise(FloatNear(1e-6f),
                        std::vector<float>{0.841471f, 0.540302f, 0.099833f, 0.995004f, 0.01f, 0.99995f, 0.001f, 1.0f}));
  EXPECT_THAT(RowOf(table, 3),
              Pointwise(FloatNear(1e-6f), std::vector<float>{0.141120f, -0.989992f, 0.295520f, 0.955336f, 0.029996f,
                                                             0.999550f, 0.003000f, 0.999996f}));
}

// The same position in the layouts of Marian and of tensor2tensor, for an even and an odd width.
TEST(SinusoidalTable, LayoutsPlaceSinesAndCosinesDifferently) {
  struct Golden {
    SinusoidalLayout layout;
    std::int64_t dim;
    std::vector<float> row;
  };
  const Golden goldens[] = {
      {SinusoidalLayout::kHalf,
       8,
       {0.141120f, 0.295520f, 0.029996f, 0.003000f, -0.989992f, 0.955336f, 0.999550f, 0.999996f}},
      {SinusoidalLayout::kTensor2Tensor,
       8,
       {0.141120f, 0.138798f, 0.006463f, 0.000300f, -0.989992f, 0.990321f, 0.999979f, 1.0f}},
      {SinusoidalLayout::kTensor2Tensor, 7, {0.141120f, 0.029996f, 0.000300f, -0.989992f, 0.999550f, 1.0f, 0.0f}},
      {SinusoidalLayout::kHalf, 7, {0.141120f, 0.214232f, 0.015538f, 0.001118f, -0.989992f, 0.976783f, 0.999879f}},
  };
  for (const Golden& golden : goldens) {
    SCOPED_TRACE(absl::StrCat(SinusoidalLayoutName(golden.layout), ", D ", golden.dim));
    ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(4, golden.dim, {.layout = golden.layout}));
    EXPECT_THAT(RowOf(table, 3), Pointwise(FloatNear(1e-6f), golden.row));
  }
}

// The formula of fairseq: half 2, inverse frequencies 1 and 1e-4.
TEST(SinusoidalTable, OddWidthOfTensor2TensorEndsInAColumnOfZeros) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(4, 5, {.layout = SinusoidalLayout::kTensor2Tensor}));

  for (std::int64_t p = 0; p < 4; ++p) {
    const double angle = static_cast<double>(p);
    EXPECT_THAT(RowOf(table, p),
                Pointwise(FloatNear(1e-7f), std::vector<double>{std::sin(angle), std::sin(angle * 1e-4),
                                                                std::cos(angle), std::cos(angle * 1e-4), 0.0}));
  }
}

TEST(SinusoidalTable, PaddingsRowOfTensor2TensorIsZero) {
  const SinusoidalFormula formula = {.layout = SinusoidalLayout::kTensor2Tensor, .padding_row = 1};
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(3, 8, formula));

  EXPECT_THAT(RowOf(table, 1), ::testing::Each(0.0f));
  EXPECT_THAT(RowOf(table, 2), ::testing::Contains(::testing::Not(0.0f)));
}

TEST(SinusoidalTable, WidthsThatALayoutDoesNotHaveAreRefused) {
  EXPECT_THAT(SinusoidalTable(3, 5),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       ::testing::HasSubstr("embedding_dim must be even for sinusoidal, got 5")));
  for (const std::int64_t dim : {2, 3}) {
    EXPECT_THAT(SinusoidalTable(3, dim, {.layout = SinusoidalLayout::kTensor2Tensor}),
                StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("must not be 2 or 3")));
  }
  EXPECT_THAT(SinusoidalTable(3, 1, {.layout = SinusoidalLayout::kTensor2Tensor}), ::embd::testing::IsOk());
  EXPECT_THAT(SinusoidalTable(3, 1, {.layout = SinusoidalLayout::kHalf}), ::embd::testing::IsOk());
}

TEST(SinusoidalTable, OutputShape) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(64, 16));

  EXPECT_EQ(table.rows(), 64);
  EXPECT_EQ(table.dim(), 16);
  EXPECT_EQ(table.element_type(), ElementType::kFloat32);
}

TEST(SinusoidalTable, SinCosFormula) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(16, 8));

  for (std::int64_t p = 0; p < 16; ++p) {
    const std::vector<float> row = RowOf(table, p);
    for (std::size_t i = 0; i < 4; ++i) {
      const double angle = static_cast<double>(p) / std::pow(10000.0, static_cast<double>(2 * i) / 8);
      EXPECT_NEAR(row[2 * i], std::sin(angle), 1e-7) << p << ' ' << i;
      EXPECT_NEAR(row[2 * i + 1], std::cos(angle), 1e-7) << p << ' ' << i;
    }
  }
}

TEST(SinusoidalTable, EveryPositionHasARowOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(1000, 64));
  std::set<std::vector<float>> rows;

  for (std::int64_t p = 0; p < table.rows(); ++p) rows.insert(RowOf(table, p));

  EXPECT_EQ(rows.size(), 1000u);
}

// Row p + k is row p with each pair turned by k times its frequency, whatever p is.
TEST(SinusoidalTable, ShiftTurnsEveryPairByAnAngleOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(128, 64));

  for (const std::int64_t k : {1, 7, 64}) {
    for (std::int64_t p = 0; p + k < table.rows(); ++p) {
      const std::vector<float> from = RowOf(table, p);
      const std::vector<float> to = RowOf(table, p + k);
      for (std::size_t i = 0; i < 32; ++i) {
        const double angle = static_cast<double>(k) * std::pow(10000.0, -static_cast<double>(i) / 32);
        const double sin = from[2 * i];
        const double cos = from[2 * i + 1];
        ASSERT_NEAR(to[2 * i], sin * std::cos(angle) + cos * std::sin(angle), 1e-6) << p << ' ' << k << ' ' << i;
        ASSERT_NEAR(to[2 * i + 1], cos * std::cos(angle) - sin * std::sin(angle), 1e-6) << p << ' ' << k << ' ' << i;
      }
    }
  }
}

TEST(SinusoidalTable, DeterministicAcrossConstructions) {
  ASSERT_OK_AND_ASSIGN(const Table first, SinusoidalTable(32, 16));
  ASSERT_OK_AND_ASSIGN(const Table second, SinusoidalTable(32, 16));

  EXPECT_EQ(FloatsOf(first), FloatsOf(second));
}

// The golden values are correctly rounded doubles; a float32 that is rounded once from a double within a few ulp of
// them differs only where the exact value lies within 1e-14 of the middle between two floats, which none of these does.
TEST(SinusoidalTable, EqualsTheGoldenRowsBitForBit) {
  std::ifstream file(EMBD_SOURCE_DIR "/tests/golden/sinusoidal.txt");
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    std::istringstream fields(line);
    std::int64_t dim = 0;
    std::int64_t row = 0;
    double base = 0;
    fields >> dim >> base >> row;
    std::vector<float> golden;
    for (double value = 0; fields >> value;) golden.push_back(static_cast<float>(value));
    SCOPED_TRACE(line.substr(0, 20));

    ASSERT_OK_AND_ASSIGN(const Table table, SinusoidalTable(row + 1, dim, {.base = base}));

    EXPECT_EQ(RowOf(table, row), golden);
  }
  EXPECT_EQ(rows, 7);
}

TEST(SinusoidalTable, RefusesInTheOrderOfTheArguments) {
  const auto refusal = [](std::int64_t rows, std::int64_t dim, double base) {
    return std::string(SinusoidalTable(rows, dim, {.base = base}).status().message());
  };

  EXPECT_EQ(refusal(0, 0, 0), "max_context_length must be >= 1, got 0");
  EXPECT_EQ(refusal(-3, 5, 0), "max_context_length must be >= 1, got -3");
  EXPECT_EQ(refusal(8, 0, 0), "embedding_dim must be >= 1, got 0");
  EXPECT_EQ(refusal(8, -1, 0), "embedding_dim must be >= 1, got -1");
  EXPECT_EQ(refusal(8, 5, 0), "embedding_dim must be even for sinusoidal, got 5");
  EXPECT_EQ(refusal(8, 4, 0), "base must be finite and > 0, got 0");
}

TEST(SinusoidalTable, RefusesBasesThatGiveNoAngles) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double base : {0.0, -1.0, infinity, -infinity, std::numeric_limits<double>::quiet_NaN(), 1e-320}) {
    SCOPED_TRACE(base);
    EXPECT_THAT(SinusoidalTable(1000, 512, {.base = base}), StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_));
    EXPECT_THAT(SinusoidalTable(1000, 512, {.base = base}), ReasonIs("INVALID_TABLE"));
  }
}

TEST(SinusoidalTable, RefusesWhatDoesNotFit) {
  EXPECT_THAT(SinusoidalTable(1ll << 40, 1ll << 40), ReasonIs("INVALID_TABLE"));
  EXPECT_THAT(SinusoidalTable(1ll << 40, 1ll << 18), ReasonIs("OUT_OF_MEMORY"));
}

}  // namespace
}  // namespace embd::core
