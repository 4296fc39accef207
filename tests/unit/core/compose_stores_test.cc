// Where the output goes, and how it is written: past the caches or through them, row after row or each to a place of
// its own. None of it may show in the bits.

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/kernels/compose.h"
#include "server/core/kernels/simd_target.h"
#include "tests/support/table_builder.h"
#include "tests/unit/core/compose_on_target.h"

namespace embd::core {
namespace {

using ::embd::testing::RandomTable;
using ::embd::testing::SmallTable;

class StoresOnTarget : public ComposeOnTarget {};
INSTANTIATE_TEST_SUITE_P(AllTargets, StoresOnTarget, ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& target) { return target.param; });

// More than are called for ahead.
const std::vector<std::int64_t> kRows = {10, 0, 10, 5, 3, 1, 1, 2, 9, 8, 7};

ComposeArguments Streaming(const Term& first, const Term& second, const Term& third, std::int64_t dim,
                           ElementType output_type) {
  return {.first = first,
          .second = second,
          .third = third,
          .dim = static_cast<std::size_t>(dim),
          .row_count = kRows.size(),
          .output_type = output_type,
          .stores = Stores::kStreaming};
}

TEST_P(StoresOnTarget, StreamingEqualsTheReferenceForAllTypesAndAwkwardWidths) {
  for (const ElementType token_type : kStoredTypes) {
    for (const ElementType position_type : kStoredTypes) {
      for (const std::int64_t dim : kWidths) {
        const Table token = SmallTable(11, dim, token_type, 42), position = SmallTable(11, dim, position_type, 43);
        const TableTerm first(token, kRows), second(position, kRows);
        for (const ElementType output_type : kOutputTypes) {
          for (const std::size_t misalignment : {0u, 4u, 60u}) {
            SCOPED_TRACE(absl::StrCat(ElementTypeName(token_type), " + ", ElementTypeName(position_type), " -> ",
                                      ElementTypeName(output_type), ", dim ", dim, ", at ", misalignment));
            const ComposeArguments sum = Streaming(first.term(), second.term(), {}, dim, output_type);
            ASSERT_TRUE(RunPoisoned(&Compose, sum, misalignment) == RunPoisoned(&ComposeReference, sum, misalignment));
          }
        }
      }
    }
  }
}

// One table holds NaNs, subnormals and infinities, too; and where it is stored as it is wanted, its rows are copied.
TEST_P(StoresOnTarget, StreamingASingleTableEqualsTheReferenceAtEveryAlignment) {
  for (const ElementType stored : kStoredTypes) {
    for (const std::int64_t dim : {3, 16, 17, 64, 65, 100}) {
      const Table table = RandomTable(11, dim, stored, 44);
      const TableTerm only(table, kRows);
      for (const ElementType output_type : kOutputTypes) {
        for (std::size_t misalignment = 0; misalignment < 64; misalignment += ElementSize(output_type)) {
          SCOPED_TRACE(absl::StrCat(ElementTypeName(stored), " -> ", ElementTypeName(output_type), ", dim ", dim,
                                    ", at ", misalignment));
          const ComposeArguments rows = Streaming(only.term(), {}, {}, dim, output_type);
          ASSERT_TRUE(RunPoisoned(&Compose, rows, misalignment) == RunPoisoned(&ComposeReference, rows, misalignment));
        }
      }
    }
  }
}

TEST_P(StoresOnTarget, ThreeTermsOfOneTypeEqualTheReferenceHoweverTheyAreWritten) {
  for (const ElementType stored : kStoredTypes) {
    for (const std::int64_t dim : kWidths) {
      const Table tables[] = {SmallTable(11, dim, stored, 1), SmallTable(11, dim, stored, 2),
                              SmallTable(11, dim, stored, 3)};
      const TableTerm terms[] = {{tables[0], kRows}, {tables[1], kRows}, {tables[2], kRows}};
      const LayerNormParameters norm = {.weight = std::vector<float>(static_cast<std::size_t>(dim), 0.75f),
                                        .bias = std::vector<float>(static_cast<std::size_t>(dim), 0.125f)};
      for (const ElementType output_type : kOutputTypes) {
        for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
          for (const LayerNormParameters* layer_norm : {static_cast<const LayerNormParameters*>(nullptr), &norm}) {
            SCOPED_TRACE(absl::StrCat(ElementTypeName(stored), " -> ", ElementTypeName(output_type), ", dim ", dim));
            ComposeArguments sum = Streaming(terms[0].term(), terms[1].term(), terms[2].term(), dim, output_type);
            sum.scale = 55.5f;
            sum.layer_norm = layer_norm;
            sum.stores = stores;
            ASSERT_TRUE(RunPoisoned(&Compose, sum, 4) == RunPoisoned(&ComposeReference, sum, 4));
          }
        }
      }
    }
  }
}

// Rows in reverse, with a gap behind each.
TEST_P(StoresOnTarget, RowsOfTheirOwnPlaceEqualThoseInOneBlock) {
  constexpr std::size_t kGap = 36;
  for (const std::int64_t dim : kWidths) {
    const Table token = SmallTable(11, dim, ElementType::kFloat32, 1),
                position = SmallTable(11, dim, ElementType::kFloat32, 2);
    const TableTerm first(token, kRows), second(position, kRows);
    const LayerNormParameters norm = {.weight = std::vector<float>(static_cast<std::size_t>(dim), 0.75f),
                                      .bias = std::vector<float>(static_cast<std::size_t>(dim), 0.125f)};
    for (const ElementType output_type : kOutputTypes) {
      for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
        for (const bool copies : {false, true}) {
          for (const bool normalises : {false, true}) {
            SCOPED_TRACE(absl::StrCat(ElementTypeName(output_type), ", dim ", dim));
            ComposeArguments sum = Streaming(first.term(), copies ? Term{} : second.term(), {}, dim, output_type);
            sum.stores = stores;
            sum.layer_norm = normalises ? &norm : nullptr;
            const std::vector<std::byte> expected = RunPoisoned(&ComposeReference, sum, 0);
            const std::size_t row_bytes = expected.size() / kRows.size(), step = row_bytes + kGap;
            std::vector<std::byte> scattered(kRows.size() * step, std::byte{0xCD}), wanted = scattered;
            std::vector<std::byte*> places;
            for (std::size_t r = 0; r < kRows.size(); ++r) {
              const std::size_t offset = (kRows.size() - 1 - r) * step;
              places.push_back(scattered.data() + offset);
              std::copy_n(expected.data() + r * row_bytes, row_bytes, wanted.data() + offset);
            }
            sum.out_rows = places.data();

            Compose(sum);

            ASSERT_TRUE(scattered == wanted);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace embd::core
