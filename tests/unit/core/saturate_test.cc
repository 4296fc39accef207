// Results beyond the largest finite value of a 16-bit output type.

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/unit/core/compose_on_target.h"

namespace embd::core {
namespace {

using ::embd::testing::MakeFloatTable;

class SaturateOnTarget : public ComposeOnTarget {};

INSTANTIATE_TEST_SUITE_P(AllTargets, SaturateOnTarget, ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& target) { return target.param; });

// One element beyond what either 16-bit type holds, and those that must stay: the largest of each, infinities, NaN.
Table EdgeTable(std::int64_t dim, ElementType type) {
  const double kEdges[] = {65504,        -65504,     65520,       -65520,
                           1e5,          0x1.FEp127, -0x1.FEp127, 0x1.FFp127,
                           -0x1.FFFp127, HUGE_VAL,   -HUGE_VAL,   std::numeric_limits<double>::quiet_NaN(),
                           0.0,          -0.0,       1.0,         3e38};
  std::vector<std::vector<double>> rows(std::size(kEdges), std::vector<double>(static_cast<std::size_t>(dim)));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < rows[r].size(); ++i) rows[r][i] = kEdges[(r + i) % std::size(kEdges)];
  }
  return testing::MakeTable(rows, type);
}

TEST_P(SaturateOnTarget, SumEqualsTheReferenceForAllTypesAndAwkwardWidths) {
  const std::vector<std::int64_t> rows = {10, 0, 10, 5, 3, 12, 8};
  for (const ElementType token_type : kStoredTypes) {
    for (const std::int64_t dim : kWidths) {
      const Table token = EdgeTable(dim, token_type);
      const Table position = testing::SmallTable(13, dim, ElementType::kFloat32, 43);
      const TableTerm first(token, rows);
      const TableTerm second(position, rows);
      for (const ElementType output_type : kOutputTypes) {
        for (const int terms : {1, 2, 3}) {
          SCOPED_TRACE(absl::StrCat(terms, " terms of ", ElementTypeName(token_type), " -> ",
                                    ElementTypeName(output_type), ", dim ", dim));
          const ComposeArguments arguments = {.first = first.term(),
                                              .scale = terms > 1 ? 0.75f : 1.0f,
                                              .second = terms > 1 ? second.term() : Term{},
                                              .third = terms > 2 ? second.term() : Term{},
                                              .dim = static_cast<std::size_t>(dim),
                                              .row_count = rows.size(),
                                              .output_type = output_type,
                                              .saturate = true};
          ASSERT_TRUE(RunPoisoned(&Compose, arguments, 4) == RunPoisoned(&ComposeReference, arguments, 4));
        }
      }
    }
  }
}

// The sum of one element with itself, in the output type, with overflow and without.
struct Overflow {
  float term;
  std::uint16_t half;
  std::uint16_t saturated_half;
  std::uint16_t bfloat16;
  std::uint16_t saturated_bfloat16;
};
const Overflow kOverflows[] = {
    {65504.0f, 0x7C00, 0x7BFF, 0x4800, 0x4800},          // 131008
    {-65504.0f, 0xFC00, 0xFBFF, 0xC800, 0xC800},         //
    {32760.0f, 0x7C00, 0x7BFF, 0x4780, 0x4780},          // 65520, the tie between the largest float16 and infinity
    {32752.0f, 0x7BFF, 0x7BFF, 0x4780, 0x4780},          // 65504
    {0x1.FFp126f, 0x7C00, 0x7BFF, 0x7F80, 0x7F7F},       // the tie between the largest bfloat16 and infinity
    {-0x1.FFFFFEp126f, 0xFC00, 0xFBFF, 0xFF80, 0xFF7F},  // minus the largest float32
    {0x1.FFFFFEp127f, 0x7C00, 0x7C00, 0x7F80, 0x7F80},   // infinite in float32
    {std::numeric_limits<float>::infinity(), 0x7C00, 0x7C00, 0x7F80, 0x7F80},
    {-std::numeric_limits<float>::infinity(), 0xFC00, 0xFC00, 0xFF80, 0xFF80},
};

TEST_P(SaturateOnTarget, SumBeyondTheOutputTypeIsInfiniteUnlessSaturated) {
  for (const Overflow& overflow : kOverflows) {
    SCOPED_TRACE(overflow.term);
    const Table table = MakeFloatTable(1, 19, std::vector<float>(19, overflow.term));
    const TableTerm row(table, {0});
    const auto twice = [&](ElementType output_type, bool saturate) {
      std::vector<std::uint16_t> out(19);
      Compose({.first = row.term(),
               .second = row.term(),
               .dim = out.size(),
               .row_count = 1,
               .output_type = output_type,
               .saturate = saturate,
               .out = reinterpret_cast<std::byte*>(out.data())});
      return out;
    };

    EXPECT_THAT(twice(ElementType::kFloat16, false), ::testing::Each(overflow.half));
    EXPECT_THAT(twice(ElementType::kFloat16, true), ::testing::Each(overflow.saturated_half));
    EXPECT_THAT(twice(ElementType::kBFloat16, false), ::testing::Each(overflow.bfloat16));
    EXPECT_THAT(twice(ElementType::kBFloat16, true), ::testing::Each(overflow.saturated_bfloat16));
  }
}

TEST_P(SaturateOnTarget, LeavesNansAndCopiedRowsAlone) {
  for (const ElementType type : {ElementType::kFloat16, ElementType::kBFloat16}) {
    SCOPED_TRACE(ElementTypeName(type));
    const Table stored = AllPatterns(type);
    const TableTerm row(stored, {0});
    std::vector<std::uint16_t> copied(65'536);
    std::vector<std::uint16_t> scaled(65'536);
    ComposeArguments arguments = {.first = row.term(),
                                  .dim = copied.size(),
                                  .row_count = 1,
                                  .output_type = type,
                                  .saturate = true,
                                  .out = reinterpret_cast<std::byte*>(copied.data())};
    Compose(arguments);
    arguments.scale = -1.0f;
    arguments.out = reinterpret_cast<std::byte*>(scaled.data());
    Compose(arguments);

    const std::uint16_t infinity = type == ElementType::kFloat16 ? 0x7C00 : 0x7F80;
    for (std::uint32_t pattern = 0; pattern < 65'536; ++pattern) {
      ASSERT_EQ(copied[pattern], pattern);
      if ((pattern & 0x7FFF) > infinity) {
        ASSERT_GT(scaled[pattern] & 0x7FFF, infinity) << "a NaN stays one";
      } else {
        ASSERT_EQ(scaled[pattern], pattern ^ 0x8000u) << "also the infinities";
      }
    }
  }
}

}  // namespace
}  // namespace embd::core
