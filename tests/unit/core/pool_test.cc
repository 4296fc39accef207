#include "server/core/kernels/pool.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/kernels/reference_element.h"
#include "server/core/kernels/simd_target.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::MakeFloatTable;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::FloatEq;
using Ids = std::vector<std::int64_t>;
using Floats = std::vector<float>;

constexpr BagMode kModes[] = {BagMode::kSum, BagMode::kMean, BagMode::kMax, BagMode::kSqrtN};
constexpr ElementType kStoredTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
                                        ElementType::kFloat64};
constexpr ElementType kOutputTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16};
// Widths around every lane count, and of one to many vectors.
constexpr std::int64_t kWidths[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 70, 100, 130};

PooledRows RowsOf(const Table& table) {
  return {.table = table.bytes().data(),
          .row_count = static_cast<std::uint64_t>(table.rows()),
          .dim = static_cast<std::size_t>(table.dim()),
          .type = table.element_type()};
}

// What Pool promises, one component at a time.
void PoolReference(const PoolArguments& a) {
  const std::int64_t* ids = a.ids;
  const float* weights = a.weights;
  std::byte* out = a.out;
  const std::size_t row_bytes = a.rows.dim * ElementSize(a.rows.type);
  for (const std::int64_t length : a.row_lengths) {
    for (std::size_t d = 0; d < a.rows.dim; ++d) {
      float sum = 0, largest = -std::numeric_limits<float>::infinity();
      double weight_sum = 0, square_sum = 0;
      int count = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        const bool inside = ids[i] >= 0 && static_cast<std::uint64_t>(ids[i]) < a.rows.row_count;
        if (inside && ids[i] == a.rows.padding_idx) continue;
        const std::byte* const row =
            inside ? a.rows.table + static_cast<std::size_t>(ids[i]) * row_bytes : a.rows.stand_in;
        const float weight = weights == nullptr ? 1.0f : weights[i];
        const float value = ReadAsFloat(row, d, a.rows.type) * a.rows.scale * weight;
        sum += value;
        if (value > largest || std::isnan(value)) largest = value;
        weight_sum += double{weight};
        square_sum += double{weight} * double{weight};
        ++count;
      }
      float result = a.mode == BagMode::kMax ? largest : sum;
      if (a.mode == BagMode::kMean) result = weight_sum == 0 ? 0.0f : sum / static_cast<float>(weight_sum);
      if (a.mode == BagMode::kSqrtN) result = square_sum == 0 ? 0.0f : sum / static_cast<float>(std::sqrt(square_sum));
      WriteFloat(count == 0 ? 0.0f : result, out, d, a.output_type);
    }
    ids += length;
    if (weights != nullptr) weights += length;
    out += a.out_step;
  }
}

// Vectors with room between them, in a buffer that begins misaligned and must not be touched elsewhere.
std::vector<std::byte> RunPoisoned(void (*pool)(const PoolArguments&), PoolArguments arguments) {
  constexpr std::size_t kGuard = 24;
  const std::size_t vector_bytes = arguments.rows.dim * ElementSize(arguments.output_type);
  arguments.out_step = vector_bytes + kGuard;
  std::vector<std::byte> out(kGuard + arguments.row_lengths.size() * arguments.out_step, std::byte{0xCD});
  arguments.out = out.data() + kGuard;
  pool(arguments);
  return out;
}

// Bit for bit, but for the payload of NaNs.
void ExpectSame(const std::vector<std::byte>& actual, const std::vector<std::byte>& expected, ElementType type) {
  ASSERT_EQ(actual.size(), expected.size());
  const std::size_t count = actual.size() / ElementSize(type);
  const std::size_t size = ElementSize(type);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::memcmp(actual.data() + i * size, expected.data() + i * size, size) == 0) continue;
    const float a = ReadAsFloat(actual.data(), i, type), b = ReadAsFloat(expected.data(), i, type);
    ASSERT_TRUE(std::isnan(a) && std::isnan(b)) << "element " << i << ": " << a << " is not " << b;
  }
}

class PoolOnTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_THAT(CapSimdTarget(GetParam()), IsOk()); }
  void TearDown() override { ASSERT_THAT(CapSimdTarget("avx3"), IsOk()); }
};

INSTANTIATE_TEST_SUITE_P(AllTargets, PoolOnTarget, ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& target) { return target.param; });

TEST_P(PoolOnTarget, EqualsTheReferenceForAllTypesModesAndAwkwardWidths) {
  const Ids lengths = {2, 0, 1, 17, 3, 1};
  std::mt19937_64 random(3);
  Ids ids;
  Floats weights;
  for (int i = 0; i < 24; ++i) {
    ids.push_back(static_cast<std::int64_t>(random() % 9) - 1);  // -1 is outside, 7 too
    weights.push_back(static_cast<float>(random() >> 40) / 8388608.0f - 1);
  }
  for (const std::int64_t dim : kWidths) {
    for (const ElementType stored : kStoredTypes) {
      const Table table = testing::RandomTable(7, dim, stored, static_cast<std::uint64_t>(dim));
      for (const ElementType output : kOutputTypes) {
        for (const BagMode mode : kModes) {
          for (const bool weighted : {false, true}) {
            if (weighted && mode == BagMode::kMax) continue;
            SCOPED_TRACE(absl::StrCat("dim ", dim, " ", ElementTypeName(stored), " to ", ElementTypeName(output),
                                      " mode ", static_cast<int>(mode), weighted ? " weighted" : ""));
            PooledRows rows = RowsOf(table);
            rows.scale = 3.7f;
            rows.padding_idx = 2;
            rows.stand_in = table.row(1);
            const PoolArguments arguments = {.rows = rows,
                                             .mode = mode,
                                             .row_lengths = lengths,
                                             .ids = ids.data(),
                                             .weights = weighted ? weights.data() : nullptr,
                                             .output_type = output};
            ExpectSame(RunPoisoned(Pool, arguments), RunPoisoned(PoolReference, arguments), output);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// The vectors of bags of a float32 table.
Floats Pooled(const Table& table, BagMode mode, const Ids& lengths, const Ids& ids, const Floats& weights = {},
              std::int64_t padding_idx = -1) {
  PooledRows rows = RowsOf(table);
  rows.padding_idx = padding_idx;
  Floats out(lengths.size() * rows.dim);
  Pool({.rows = rows,
        .mode = mode,
        .row_lengths = lengths,
        .ids = ids.data(),
        .weights = weights.empty() ? nullptr : weights.data(),
        .out = reinterpret_cast<std::byte*>(out.data()),
        .out_step = rows.dim * sizeof(float)});
  return out;
}

TEST(Pool, FormulasAreThoseOfTheProtocol) {
  const Table table = MakeFloatTable(3, 2, {1, 10, 2, 20, 4, 40});

  EXPECT_THAT(Pooled(table, BagMode::kSum, {3}, {0, 1, 2}, {2, 1, 0.5f}), ElementsAre(6, 60));
  EXPECT_THAT(Pooled(table, BagMode::kMean, {2}, {0, 1}), ElementsAre(1.5f, 15));
  EXPECT_THAT(Pooled(table, BagMode::kMean, {2}, {0, 2}, {3, 1}), ElementsAre(1.75f, 17.5f));
  EXPECT_THAT(Pooled(table, BagMode::kMax, {3}, {1, 2, 0}), ElementsAre(4, 40));
  EXPECT_THAT(Pooled(table, BagMode::kSqrtN, {4}, {0, 0, 0, 0}), ElementsAre(2, 20));
  EXPECT_THAT(Pooled(table, BagMode::kSqrtN, {2}, {0, 1}, {3, 4}), ElementsAre(2.2f, 22));
}

TEST(Pool, EmptyBagsPaddingOnlyAndWeightsThatCancelOutAreZero) {
  const Table table = MakeFloatTable(2, 1, {-5, -7});

  for (const BagMode mode : kModes) EXPECT_THAT(Pooled(table, mode, {0, 2}, {1, 1}, {}, 1), ElementsAre(0, 0));
  EXPECT_THAT(Pooled(table, BagMode::kMean, {2}, {0, 1}, {1, -1}), ElementsAre(0));
  EXPECT_THAT(Pooled(table, BagMode::kSqrtN, {2}, {0, 1}, {0, 0}), ElementsAre(0));
}

// Their squares are no float32.
TEST(Pool, SqrtNTakesWeightsOfAnyMagnitude) {
  const Table table = MakeFloatTable(1, 1, {3});

  EXPECT_THAT(Pooled(table, BagMode::kSqrtN, {1, 1}, {0, 0}, {1e-30f, 1e30f}), ElementsAre(FloatEq(3), FloatEq(3)));
}

TEST(Pool, MaxOfANanIsNanWhereverItStands) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Table table = MakeFloatTable(3, 1, {1, nan, 2});

  for (const Ids& ids : {Ids{1, 0, 2}, Ids{0, 1, 2}, Ids{0, 2, 1}}) {
    EXPECT_TRUE(std::isnan(Pooled(table, BagMode::kMax, {3}, ids)[0]));
  }
}

TEST(Pool, SaturatesWhereTheModelDoes) {
  const Table table = MakeFloatTable(2, 1, {60000, std::numeric_limits<float>::infinity()});
  const Ids ids = {0, 0, 1}, lengths = {2, 1};
  std::vector<std::uint16_t> out(2);

  Pool({.rows = RowsOf(table),
        .mode = BagMode::kSum,
        .row_lengths = lengths,
        .ids = ids.data(),
        .output_type = ElementType::kFloat16,
        .saturate = true,
        .out = reinterpret_cast<std::byte*>(out.data()),
        .out_step = 2});

  EXPECT_THAT(out, ElementsAre(0x7BFF, 0x7C00));
}

struct Golden {
  std::string oracle;
  BagMode mode = BagMode::kSum;
  std::int64_t padding_idx = -1;
  Ids lengths, ids;
  Floats weights, vectors;
};

Floats ReadFloats(std::istream& in, std::size_t count) {
  Floats values(count);
  for (float& value : values) {
    std::uint32_t bits = 0;
    in >> std::hex >> bits >> std::dec;
    value = std::bit_cast<float>(bits);
  }
  return values;
}

Ids ReadIds(std::istream& in, std::size_t count) {
  Ids values(count);
  for (std::int64_t& value : values) in >> value;
  return values;
}

Golden ReadGolden(const std::string& line, std::size_t dim) {
  std::istringstream in(line);
  Golden golden;
  std::string mode;
  std::size_t bags = 0, has_weights = 0, id_count = 0;
  in >> golden.oracle >> mode >> golden.padding_idx >> bags;
  golden.mode = mode == "sum"    ? BagMode::kSum
                : mode == "mean" ? BagMode::kMean
                : mode == "max"  ? BagMode::kMax
                                 : BagMode::kSqrtN;
  golden.lengths = ReadIds(in, bags);
  for (const std::int64_t length : golden.lengths) id_count += static_cast<std::size_t>(length);
  golden.ids = ReadIds(in, id_count);
  in >> has_weights;
  golden.weights = ReadFloats(in, has_weights * id_count);
  golden.vectors = ReadFloats(in, bags * dim);
  EXPECT_TRUE(in) << line.substr(0, 40);
  return golden;
}

// How many representable values two finite floats of one sign lie apart.
std::int64_t UlpsApart(float a, float b) {
  return std::abs(std::int64_t{std::bit_cast<std::int32_t>(a)} - std::int64_t{std::bit_cast<std::int32_t>(b)});
}

// The sum of |w x| of each component.
Floats Magnitudes(const Table& table, const Golden& golden) {
  Floats rows = testing::FloatsOf(table), weights = golden.weights;
  for (float& value : rows) value = std::fabs(value);
  for (float& weight : weights) weight = std::fabs(weight);
  return Pooled(MakeFloatTable(table.rows(), table.dim(), rows), BagMode::kSum, golden.lengths, golden.ids, weights);
}

TEST(PoolGolden, EqualsTorchAndTheCombinersOfTensorFlow) {
  std::ifstream file(EMBD_SOURCE_DIR "/tests/golden/bags.txt");
  std::int64_t vocab = 0, dim = 0;
  file >> vocab >> dim;
  const Table table = MakeFloatTable(vocab, dim, ReadFloats(file, static_cast<std::size_t>(vocab * dim)));
  std::string line;
  std::getline(file, line);
  int cases = 0;
  while (std::getline(file, line)) {
    SCOPED_TRACE(line.substr(0, 40));
    const Golden golden = ReadGolden(line, static_cast<std::size_t>(dim));
    ++cases;

    const Floats vectors = Pooled(table, golden.mode, golden.lengths, golden.ids, golden.weights, golden.padding_idx);

    if (golden.oracle == "numpy") {
      EXPECT_THAT(vectors, ElementsAreArray(golden.vectors));
      continue;
    }
    const Floats magnitudes = Magnitudes(table, golden);
    for (std::size_t i = 0; i < vectors.size(); ++i) {
      if (golden.weights.empty()) {
        EXPECT_LE(UlpsApart(vectors[i], golden.vectors[i]), 1) << i;
      } else {  // torch may fuse products and sums
        EXPECT_LE(std::fabs(vectors[i] - golden.vectors[i]), 0x1p-23f * magnitudes[i]) << i;
      }
    }
  }
  EXPECT_EQ(cases, 16);
}

}  // namespace
}  // namespace embd::core
