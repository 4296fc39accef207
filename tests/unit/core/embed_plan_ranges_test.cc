// Any range of the result's rows is what its rows are one by one, in whatever order cells are composed.

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/engine/embed_plan.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::SmallTable;

constexpr EmbedLimits kLimits = {.max_batch_size = 64, .max_sequence_length = 64, .max_response_bytes = 1 << 24};
constexpr std::int64_t kBatch = 19, kTokens = 13, kVocab = 50;

std::shared_ptr<const Model> MakeModel(Numbering numbering) {
  ModelParts parts{.name = "m",
                   .token = ModelTable::Of(SmallTable(kVocab, 24, ElementType::kFloat32, 1), "test", true)};
  parts.position = ModelTable::Of(SmallTable(64, 24, ElementType::kFloat32, 2), "test", true);
  parts.position_encoding = PositionEncoding::kLearned;
  parts.numbering = numbering;
  parts.token_types = TokenTypes{.table = ModelTable::Of(SmallTable(2, 24, ElementType::kFloat32, 3), "test", true)};
  parts.zero_masked = true;
  return Model::Create(std::move(parts)).value();
}

// A batch in which nearly every cell has something of its own.
EmbedInput MakeInput() {
  std::mt19937_64 random(5);
  EmbedInput input = {.batch_size = kBatch, .sequence_length = kTokens};
  for (std::int64_t cell = 0; cell < kBatch * kTokens; ++cell) {
    input.ids.push_back(static_cast<std::int64_t>(random() % kVocab));
    input.token_type_ids.push_back(static_cast<std::int64_t>(random() % 2));
    input.attention_mask.push_back(cell % 7 == 3 ? 0 : 1);
  }
  for (std::int64_t b = 0; b < kBatch; ++b) input.position_offsets.push_back(b);
  return input;
}

struct Case {
  std::string name;
  Numbering numbering = Numbering::kSequential;
  EmbedInput input;
};

std::vector<Case> Cases() {
  std::vector<Case> cases = {{"offsets and mask", Numbering::kFixed, MakeInput()},
                             {"numbered by the mask", Numbering::kSequential, MakeInput()}};
  EmbedInput explicit_ids = MakeInput();
  explicit_ids.position_offsets.clear();
  for (std::int64_t cell = 0; cell < kBatch * kTokens; ++cell) explicit_ids.position_ids.push_back(cell * 5 % 64);
  cases.push_back({"position_ids", Numbering::kFixed, explicit_ids});
  EmbedInput position = MakeInput();
  position.part = Part::kPosition;
  cases.push_back({"position part", Numbering::kFixed, position});
  EmbedInput token = MakeInput();
  token.part = Part::kToken;
  cases.push_back({"token part", Numbering::kFixed, token});
  for (const bool packed : {true, false}) {
    EmbedInput ragged = MakeInput();
    ragged.packed = packed;
    ragged.pad_left = !packed;
    std::int64_t cells = 0;
    for (std::int64_t b = 0; b < kBatch; ++b) {
      ragged.row_lengths.push_back(b * 3 % (kTokens + 1));
      cells += ragged.row_lengths.back();
    }
    for (auto* values : {&ragged.ids, &ragged.token_type_ids, &ragged.attention_mask}) {
      values->resize(static_cast<std::size_t>(cells));
    }
    ragged.sequence_length = packed ? 0 : kTokens;
    cases.push_back({packed ? "packed" : "padded on the left", Numbering::kFixed, ragged});
  }
  return cases;
}

constexpr std::size_t kGuard = 64;

// Rows [first, first + count) in a buffer with guards, which are checked.
std::vector<std::byte> ComposeRange(const EmbedPlan& plan, std::int64_t first, std::int64_t count, Stores stores) {
  const std::size_t size = static_cast<std::size_t>(count) * plan.row_bytes();
  std::vector<std::byte> out(kGuard + size + kGuard, std::byte{0xCD});
  plan.Compose(first, count, std::span(out).subspan(kGuard, size), stores);
  for (std::size_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(out[i], std::byte{0xCD});
    EXPECT_EQ(out[kGuard + size + i], std::byte{0xCD});
  }
  return {out.begin() + kGuard, out.end() - kGuard};
}

TEST(EmbedPlanRanges, EqualTheirRowsOneByOne) {
  for (const Case& c : Cases()) {
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16}) {
      SCOPED_TRACE(absl::StrCat(c.name, " to ", ElementTypeName(type)));
      EmbedInput input = c.input;
      input.output_type = type;
      const auto plan = EmbedPlan::Create(MakeModel(c.numbering), std::move(input), kLimits);
      ASSERT_TRUE(plan.ok()) << plan.status();
      const std::int64_t rows = plan->row_count();
      std::vector<std::vector<std::byte>> one_by_one;
      for (std::int64_t row = 0; row < rows; ++row) {
        one_by_one.push_back(ComposeRange(*plan, row, 1, Stores::kCached));
      }

      for (const std::int64_t first : {std::int64_t{0}, std::int64_t{1}, kTokens, 3 * kTokens - 1}) {
        for (std::int64_t end = first + 1; end <= rows; end += end % 11 + 1) {
          std::vector<std::byte> expected;
          for (std::int64_t row = first; row < end; ++row) {
            const auto& bytes = one_by_one[static_cast<std::size_t>(row)];
            expected.insert(expected.end(), bytes.begin(), bytes.end());
          }
          for (const Stores stores : {Stores::kCached, Stores::kStreaming}) {
            ASSERT_TRUE(ComposeRange(*plan, first, end - first, stores) == expected) << first << " to " << end;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace embd::core
