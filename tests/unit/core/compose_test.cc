#include "server/core/kernels/compose.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/kernels/simd_target.h"
#include "server/core/table/checksum.h"
#include "server/core/tensor/float_bits.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"
#include "tests/unit/core/compose_on_target.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::MakeFloatTable;
using ::embd::testing::RandomTable;

// Two NaNs added give a NaN of either operand's payload, as the CPU likes; so sums are compared with one kind of NaN.
void UnifyNans(ElementType type, std::vector<std::byte>* bytes) {
  const std::size_t step = ElementSize(type);
  for (std::size_t i = 0; i + step <= bytes->size(); i += step) {
    if (type == ElementType::kFloat32) {
      float value;
      std::memcpy(&value, bytes->data() + i, step);
      if (std::isnan(value)) value = std::numeric_limits<float>::quiet_NaN();
      std::memcpy(bytes->data() + i, &value, step);
    } else {
      std::uint16_t value;
      std::memcpy(&value, bytes->data() + i, step);
      const std::uint16_t infinity = type == ElementType::kFloat16 ? 0x7C00 : 0x7F80;
      if ((value & 0x7FFF) > infinity) value = 0x7FFF;
      std::memcpy(bytes->data() + i, &value, step);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTargets, ComposeOnTarget, ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& target) { return target.param; });

TEST_P(ComposeOnTarget, RunsOnTheTargetItIsCappedTo) { EXPECT_EQ(SimdTarget(), GetParam()); }

TEST_P(ComposeOnTarget, SumEqualsTheReferenceForAllTypesAndAwkwardWidths) {
  const std::vector<std::int64_t> token_rows = {10, 0, 10, 5, 3};
  const std::vector<std::int64_t> position_rows = {0, 1, 2, 6, 6};
  for (const ElementType token_type : kStoredTypes) {
    for (const ElementType position_type : kStoredTypes) {
      for (const std::int64_t dim : kWidths) {
        const Table token = RandomTable(11, dim, token_type, 42);
        const Table position = RandomTable(7, dim, position_type, 43);
        for (const ElementType output_type : kOutputTypes) {
          SCOPED_TRACE(absl::StrCat(ElementTypeName(token_type), " + ", ElementTypeName(position_type), " -> ",
                                    ElementTypeName(output_type), ", dim ", dim));
          const TableTerm first(token, token_rows);
          const TableTerm second(position, position_rows);
          const ComposeArguments arguments = {.first = first.term(),
                                              .second = second.term(),
                                              .dim = static_cast<std::size_t>(dim),
                                              .row_count = 5,
                                              .output_type = output_type};
          auto expected = RunPoisoned(&ComposeReference, arguments, 0);
          auto actual = RunPoisoned(&Compose, arguments, 0);
          UnifyNans(output_type, &expected);
          UnifyNans(output_type, &actual);
          ASSERT_TRUE(actual == expected);
        }
      }
    }
  }
}

TEST_P(ComposeOnTarget, SingleTableEqualsTheReferenceToTheBitAtAwkwardAlignments) {
  const std::vector<std::int64_t> rows = {10, 0, 10, 5};
  for (const ElementType stored : kStoredTypes) {
    for (const std::int64_t dim : kWidths) {
      const Table table = RandomTable(11, dim, stored, 44);
      for (const ElementType output_type : kOutputTypes) {
        for (const std::size_t misalignment : {0u, 4u, 60u}) {
          SCOPED_TRACE(absl::StrCat(ElementTypeName(stored), " -> ", ElementTypeName(output_type), ", dim ", dim,
                                    ", at ", misalignment));
          const TableTerm only(table, rows);
          const ComposeArguments arguments = {
              .first = only.term(), .dim = static_cast<std::size_t>(dim), .row_count = 4, .output_type = output_type};

          const auto expected = RunPoisoned(&ComposeReference, arguments, misalignment);

          ASSERT_TRUE(RunPoisoned(&Compose, arguments, misalignment) == expected);
        }
      }
    }
  }
}

// Every combination of terms, factor and LayerNorm, in finite values, so that nothing is said about NaNs here.
TEST_P(ComposeOnTarget, ScaleThreeTermsAndLayerNormEqualTheReferenceToTheBit) {
  const std::vector<std::int64_t> rows = {2, 0, 1, 1, 2, 0, 2};
  for (const std::int64_t dim : kWidths) {
    const Table tables[] = {testing::SmallTable(3, dim, ElementType::kBFloat16, 1),
                            testing::SmallTable(3, dim, ElementType::kFloat32, 2),
                            testing::SmallTable(3, dim, ElementType::kFloat16, 3)};
    const LayerNormParameters norm = {
        .weight = testing::FloatsOf(testing::SmallTable(1, dim, ElementType::kFloat32, 4)),
        .bias = testing::FloatsOf(testing::SmallTable(1, dim, ElementType::kFloat32, 5)),
        .eps = 1e-12};
    const TableTerm terms[] = {{tables[0], rows}, {tables[1], rows}, {tables[2], rows}};
    for (const std::size_t count : {1u, 2u, 3u}) {
      for (const LayerNormParameters* layer_norm : {static_cast<const LayerNormParameters*>(nullptr), &norm}) {
        for (const ElementType output_type : kOutputTypes) {
          SCOPED_TRACE(absl::StrCat(count, " terms -> ", ElementTypeName(output_type), ", dim ", dim));
          const ComposeArguments arguments = {.first = terms[0].term(),
                                              .scale = 55.5f,
                                              .second = count > 1 ? terms[1].term() : Term{},
                                              .third = count > 2 ? terms[2].term() : Term{},
                                              .layer_norm = layer_norm,
                                              .dim = static_cast<std::size_t>(dim),
                                              .row_count = rows.size(),
                                              .output_type = output_type};
          ASSERT_TRUE(RunPoisoned(&Compose, arguments, 4) == RunPoisoned(&ComposeReference, arguments, 4));
        }
      }
    }
  }
}

// float16 1 + 2^-11 + 2^-11: rounding after each term would give 1 twice; once, at the end, 1 + 2^-10.
TEST_P(ComposeOnTarget, ThreeTermsAreRoundedOnce) {
  const Table one = testing::MakeTable({std::vector<double>(19, 1.0)}, ElementType::kFloat16);
  const Table small = testing::MakeTable({std::vector<double>(19, 0x1p-11)}, ElementType::kFloat16);
  const TableTerm first(one, {0});
  const TableTerm other(small, {0});
  std::vector<std::uint16_t> out(19);

  Compose({.first = first.term(),
           .second = other.term(),
           .third = other.term(),
           .dim = out.size(),
           .row_count = 1,
           .output_type = ElementType::kFloat16,
           .out = reinterpret_cast<std::byte*>(out.data())});

  EXPECT_THAT(out, ::testing::Each(0x3C01));
}

// A product and a sum of which FMA would keep bits that float32 has not: (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, less 1.
TEST_P(ComposeOnTarget, ScaleAndSumAreNotFused) {
  const Table token = MakeFloatTable(1, 19, std::vector<float>(19, 1.0f + 0x1p-12f));
  const Table position = MakeFloatTable(1, 19, std::vector<float>(19, -1.0f));
  const TableTerm first(token, {0});
  const TableTerm second(position, {0});
  std::vector<float> out(19);

  Compose({.first = first.term(),
           .scale = 1.0f + 0x1p-12f,
           .second = second.term(),
           .dim = out.size(),
           .row_count = 1,
           .out = reinterpret_cast<std::byte*>(out.data())});

  EXPECT_THAT(out, ::testing::Each(0x1p-11f));
}

template <typename T>
std::vector<T> Convert(const Table& table, ElementType output_type) {
  const TableTerm row(table, {0});
  std::vector<T> out(static_cast<std::size_t>(table.dim()));
  Compose({.first = row.term(),
           .dim = out.size(),
           .row_count = 1,
           .output_type = output_type,
           .out = reinterpret_cast<std::byte*>(out.data())});
  return out;
}

TEST_P(ComposeOnTarget, All65536PatternsOfBothHalfTypesComeBack) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBFloat16}) {
    SCOPED_TRACE(ElementTypeName(type));
    const std::uint16_t infinity = type == ElementType::kFloat16 ? 0x7C00 : 0x7F80;
    const std::uint16_t quiet = type == ElementType::kFloat16 ? 0x0200 : 0x0040;
    const Table stored = AllPatterns(type);

    const auto same = Convert<std::uint16_t>(stored, type);
    const Table widened = MakeFloatTable(1, 65'536, Convert<float>(stored, ElementType::kFloat32));
    const auto back = Convert<std::uint16_t>(widened, type);

    for (std::uint32_t pattern = 0; pattern < 65'536; ++pattern) {
      const bool is_nan = (pattern & 0x7FFF) > infinity;
      ASSERT_EQ(same[pattern], pattern) << "stored in the type asked for, so copied";
      ASSERT_EQ(back[pattern], is_nan ? pattern | quiet : pattern) << "a NaN becomes quiet, all else stays";
    }
  }
}

// The value and its bits as float16 and bfloat16; from IEEE 754 and the definition of bfloat16, checked with numpy.
struct Rounding {
  float value;
  std::uint16_t half;
  std::uint16_t bfloat16;
};
const Rounding kRoundings[] = {
    {1.00390625f, 0x3C04, 0x3F80},  // a tie for bfloat16: to even, down
    {1.01171875f, 0x3C0C, 0x3F82},  // a tie for bfloat16: to even, up
    {65519.996f, 0x7BFF, 0x4780},   // just below what float16 rounds to infinity
    {65520.0f, 0x7C00, 0x4780},     // the tie between the largest float16 and infinity
    {-65520.0f, 0xFC00, 0xC780},
    {0.0f, 0x0000, 0x0000},
    {-0.0f, 0x8000, 0x8000},
    {std::numeric_limits<float>::infinity(), 0x7C00, 0x7F80},
    {-std::numeric_limits<float>::infinity(), 0xFC00, 0xFF80},
    {1e-8f, 0x0000, 0x322C},           // below half of the smallest float16
    {2.98023224e-8f, 0x0000, 0x3300},  // half of it: a tie, to even
    {2.98023259e-8f, 0x0001, 0x3300},  // just above
    {6.097555160522461e-5f, 0x03FF, 0x387F + 1},
    {3.4028235e38f, 0x7C00, 0x7F80},  // the largest float32
};

TEST_P(ComposeOnTarget, RoundsToNearestEvenOnce) {
  for (const Rounding& rounding : kRoundings) {
    SCOPED_TRACE(rounding.value);
    const Table table = MakeFloatTable(1, 19, std::vector<float>(19, rounding.value));  // whole vectors and a tail

    EXPECT_THAT(Convert<std::uint16_t>(table, ElementType::kFloat16), ::testing::Each(rounding.half));
    EXPECT_THAT(Convert<std::uint16_t>(table, ElementType::kBFloat16), ::testing::Each(rounding.bfloat16));
  }
}

TEST_P(ComposeOnTarget, NanStaysNanInEveryType) {
  for (const std::uint32_t bits : {0x7FC00000u, 0xFFC00000u, 0x7F800001u, 0xFFFFFFFFu}) {
    SCOPED_TRACE(bits);
    const Table table = MakeFloatTable(1, 19, std::vector<float>(19, std::bit_cast<float>(bits)));

    for (const std::uint16_t half : Convert<std::uint16_t>(table, ElementType::kFloat16)) {
      EXPECT_EQ(half & 0x7E00, 0x7E00);
      EXPECT_EQ(half >> 15, bits >> 31);
    }
    for (const std::uint16_t bfloat16 : Convert<std::uint16_t>(table, ElementType::kBFloat16)) {
      EXPECT_EQ(bfloat16 & 0x7FC0, 0x7FC0);
      EXPECT_EQ(bfloat16 >> 15, bits >> 31);
    }
  }
}

// 1 + 2^-24 rounds to 1 in float32; a fused or wider sum would keep the small term long enough to tip the rounding.
TEST_P(ComposeOnTarget, AddsInFloat32WithoutAWiderIntermediate) {
  const Table token = MakeFloatTable(1, 19, std::vector<float>(19, 1.0f));
  const Table position = MakeFloatTable(1, 19, std::vector<float>(19, 0x1p-24f));
  const TableTerm first(token, {0});
  const TableTerm second(position, {0});
  std::vector<float> out(19);

  Compose({.first = first.term(),
           .second = second.term(),
           .dim = out.size(),
           .row_count = 1,
           .out = reinterpret_cast<std::byte*>(out.data())});

  EXPECT_THAT(out, ::testing::Each(1.0f));
}

TEST(SimdTarget, UnknownNameIsRefusedWithTheNamesThereAre) {
  EXPECT_THAT(CapSimdTarget("mmx"),
              embd::testing::StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("scalar")));
}

TEST(SimdTarget, ScalarIsAlwaysThere) { EXPECT_EQ(SupportedSimdTargets().back(), "scalar"); }

}  // namespace
}  // namespace embd::core
