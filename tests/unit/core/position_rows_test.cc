#include "server/core/engine/position_rows.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/engine/embed_plan.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::MakeFloatTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr EmbedLimits kLimits = {.max_batch_size = 8, .max_sequence_length = 4096, .max_response_bytes = 1 << 20};
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

struct Rule {
  Numbering numbering = Numbering::kSequential;
  std::int64_t row_offset = 0;
  std::optional<std::int64_t> padding_idx = {};
  std::int64_t rows = 20;
};
const Rule kGpt2 = {};
const Rule kBert = {.numbering = Numbering::kFixed};
const Rule kBart = {.numbering = Numbering::kFixed, .row_offset = 2};
const Rule kOpt = {.numbering = Numbering::kMask, .row_offset = 2};
const Rule kRoberta = {.numbering = Numbering::kPadding, .padding_idx = 1};

// A model of width 1 whose position row p is p, and whose token rows are zeros: results are the rows that were read.
std::shared_ptr<const Model> ModelOf(const Rule& rule) {
  std::vector<float> rows;
  for (std::int64_t p = 0; p < rule.rows; ++p) rows.push_back(static_cast<float>(p));
  ModelParts parts{.name = "m", .token = ModelTable::Of(MakeFloatTable(50, 1, std::vector<float>(50)), "test", true)};
  parts.position = ModelTable::Of(MakeFloatTable(rule.rows, 1, rows), "test", true);
  parts.position_encoding = PositionEncoding::kLearned;
  parts.numbering = rule.numbering;
  parts.row_offset = rule.row_offset;
  parts.padding_idx = rule.padding_idx;
  return Model::Create(std::move(parts)).value();
}

absl::StatusOr<std::vector<float>> RowsOf(const Rule& rule, EmbedInput input) {
  const auto plan = EmbedPlan::Create(ModelOf(rule), std::move(input), kLimits);
  if (!plan.ok()) return plan.status();
  std::vector<float> out(plan->byte_size() / sizeof(float));
  plan->Compose(0, plan->row_count(), std::as_writable_bytes(std::span(out)));
  return out;
}

EmbedInput Batch(std::int64_t batch, std::vector<std::int64_t> ids) {
  const auto count = static_cast<std::int64_t>(ids.size());
  return {.batch_size = batch, .sequence_length = count / batch, .ids = std::move(ids)};
}

EmbedInput Masked(std::vector<std::int64_t> mask, std::vector<std::int64_t> offsets = {}) {
  EmbedInput input = Batch(1, std::vector<std::int64_t>(mask.size(), 5));
  input.attention_mask = std::move(mask);
  input.position_offsets = std::move(offsets);
  return input;
}

EmbedInput WithOffsets(EmbedInput input, std::vector<std::int64_t> offsets) {
  input.position_offsets = std::move(offsets);
  return input;
}

TEST(PositionNumbering, SequentialCountsColumns) {
  EXPECT_THAT(*RowsOf(kGpt2, Batch(2, {7, 8, 9, 7, 8, 9})), ElementsAre(0, 1, 2, 0, 1, 2));
}

TEST(PositionNumbering, SequentialCountsUnmaskedCellsAndMaskedOnesArePositionOne) {
  EXPECT_THAT(*RowsOf(kGpt2, Masked({0, 0, 1, 1})), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(*RowsOf(kGpt2, Masked({1, 0, 1, 1})), ElementsAre(0, 1, 1, 2));
}

TEST(PositionNumbering, LeftPaddedRowEqualsTheRowWithoutPadding) {
  EmbedInput padded = Batch(1, {0, 0, 5, 6});
  padded.attention_mask = {0, 0, 1, 1};

  const auto rows = *RowsOf(kGpt2, padded);

  EXPECT_THAT(std::vector<float>(rows.begin() + 2, rows.end()),
              ::testing::ElementsAreArray(*RowsOf(kGpt2, Batch(1, {5, 6}))));
}

TEST(PositionNumbering, OffsetAndMaskAddUp) {
  EXPECT_THAT(*RowsOf(kGpt2, Masked({0, 1, 1}, {4})), ElementsAre(1, 4, 5));
  EXPECT_THAT(*RowsOf(kOpt, Masked({0, 1, 1}, {4})), ElementsAre(1, 6, 7));
}

TEST(PositionNumbering, OffsetsAreARowsOwn) {
  EXPECT_THAT(*RowsOf(kGpt2, WithOffsets(Batch(2, {5, 6, 5, 6}), {0, 7})), ElementsAre(0, 1, 7, 8));
  EXPECT_THAT(*RowsOf(kGpt2, WithOffsets(Batch(2, {5, 6, 5, 6}), {3})), ElementsAre(3, 4, 3, 4));
}

TEST(PositionNumbering, FixedIgnoresTheMask) {
  EXPECT_THAT(*RowsOf(kBert, Masked({0, 0, 1, 1})), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(*RowsOf(kBart, Masked({0, 0, 1, 1})), ElementsAre(2, 3, 4, 5));
}

TEST(PositionNumbering, BartAtOffsetFiveReadsRowSeven) {
  EXPECT_THAT(*RowsOf(kBart, WithOffsets(Batch(1, {9}), {5})), ElementsAre(7));
}

TEST(PositionNumbering, XglmMovesEveryCellByTwoPaddingToo) {
  const Rule xglm = {.numbering = Numbering::kFixed, .row_offset = 2, .padding_idx = 1};
  EXPECT_THAT(*RowsOf(xglm, Batch(1, {1, 1, 7, 8})), ElementsAre(2, 3, 4, 5));
}

TEST(PositionNumbering, RobertaCountsWhatIsNoPadding) {
  EXPECT_THAT(*RowsOf(kRoberta, Batch(1, {5, 1, 7})), ElementsAre(2, 1, 3));
}

TEST(PositionNumbering, RobertaIgnoresTheMask) {
  EmbedInput input = Batch(1, {5, 1, 7});
  input.attention_mask = {0, 0, 1};
  EXPECT_THAT(*RowsOf(kRoberta, input), ElementsAre(2, 1, 3));
}

TEST(PositionNumbering, RobertaAddsTheOffsetToWhatIsCounted) {
  EXPECT_THAT(*RowsOf(kRoberta, WithOffsets(Batch(1, {5, 1, 7}), {4})), ElementsAre(6, 1, 7));
}

TEST(PositionNumbering, PaddingThreeBeginsAtRowFour) {
  const Rule rule = {.numbering = Numbering::kPadding, .padding_idx = 3};
  EXPECT_THAT(*RowsOf(rule, Batch(1, {7, 8})), ElementsAre(4, 5));
}

TEST(PositionNumbering, WithoutIdsNoCellIsPadding) {
  EmbedInput input = {.part = Part::kPosition, .batch_size = 1, .sequence_length = 3};
  EXPECT_THAT(*RowsOf(kRoberta, input), ElementsAre(2, 3, 4));
}

TEST(PositionNumbering, OptCountsUnmaskedCellsAndMaskedOnesReadRowOne) {
  EXPECT_THAT(*RowsOf(kOpt, Masked({0, 0, 1, 1})), ElementsAre(1, 1, 2, 3));
}

TEST(PositionNumbering, OptWithoutMaskIsAsWithOnes) {
  EXPECT_THAT(*RowsOf(kOpt, Batch(1, {5, 5, 5})), ElementsAre(2, 3, 4));
}

TEST(PositionNumbering, ExplicitIdsAreWhatTheFamilysArgumentIs) {
  EmbedInput input = Batch(1, {5, 1, 7});
  input.position_ids = {4, 0, 2};
  EXPECT_THAT(*RowsOf(kGpt2, input), ElementsAre(4, 0, 2));
  EXPECT_THAT(*RowsOf(kRoberta, input), ElementsAre(4, 0, 2));
  EXPECT_THAT(*RowsOf(kOpt, input), ElementsAre(6, 2, 4));
  EXPECT_THAT(*RowsOf(kBart, input), ElementsAre(6, 2, 4));
}

TEST(PositionNumbering, ExplicitIdsGoBeforeTheMask) {
  EmbedInput input = Masked({0, 0, 1});
  input.position_ids = {4, 0, 2};
  EXPECT_THAT(*RowsOf(kGpt2, input), ElementsAre(4, 0, 2));
}

TEST(PositionNumbering, RaggedRowsCountForThemselves) {
  const EmbedInput input = {.ids = {5, 1, 7, 5, 5}, .row_lengths = {3, 0, 2}, .packed = true};
  EXPECT_THAT(*RowsOf(kGpt2, input), ElementsAre(0, 1, 2, 0, 1));
  EXPECT_THAT(*RowsOf(kRoberta, input), ElementsAre(2, 1, 3, 2, 3));
}

TEST(PositionNumbering, RaggedRowsTakeOffsetsAndPositionIds) {
  EmbedInput input = {.ids = {5, 6, 7, 8, 9}, .row_lengths = {3, 0, 2}, .packed = true};
  EXPECT_THAT(*RowsOf(kGpt2, WithOffsets(input, {1, 9, 4})), ElementsAre(1, 2, 3, 4, 5));
  input.position_ids = {9, 8, 7, 6, 5};
  EXPECT_THAT(*RowsOf(kGpt2, input), ElementsAre(9, 8, 7, 6, 5));
}

// A RoBERTa table has 514 rows, of which tokens can use 512.
TEST(PositionLimit, RobertasTableHoldsTwoTokensLessThanItHasRows) {
  const Rule rule = {.numbering = Numbering::kPadding, .padding_idx = 1, .rows = 514};
  EXPECT_THAT(RowsOf(rule, Batch(1, std::vector<std::int64_t>(512, 7))), ::embd::testing::IsOk());
  EXPECT_THAT(RowsOf(rule, Batch(1, std::vector<std::int64_t>(513, 7))),
              AllOf(StatusIs(kInvalid, HasSubstr("sequence_length 513 exceeds max_context_length 512 of model \"m\"")),
                    ReasonIs("SEQUENCE_TOO_LONG")));
}

TEST(PositionLimit, PaddingUsesUpNone) {
  const Rule rule = {.numbering = Numbering::kPadding, .padding_idx = 1, .rows = 5};
  EXPECT_THAT(*RowsOf(rule, Batch(1, {7, 1, 1, 1, 7, 1, 7})), ElementsAre(2, 1, 1, 1, 3, 1, 4));
  EXPECT_THAT(RowsOf(rule, Batch(1, {7, 1, 7, 1, 7, 1, 7})),
              StatusIs(kInvalid, HasSubstr("4 ids that are no padding in row 0 exceeds max_context_length 3")));
}

TEST(PositionLimit, MaskedCellsUseUpNone) {
  EXPECT_THAT(*RowsOf({.rows = 2}, Masked({0, 0, 0, 1, 1})), ElementsAre(1, 1, 1, 0, 1));
  EXPECT_THAT(RowsOf({.rows = 2}, Masked({0, 1, 1, 1})),
              StatusIs(kInvalid, HasSubstr("3 unmasked cells in row 0 exceeds max_context_length 2")));
}

TEST(PositionLimit, MaskedCellOfATableOfOneRowIsNamed) {
  EXPECT_THAT(RowsOf({.rows = 1}, Masked({0, 1})),
              AllOf(StatusIs(kInvalid, HasSubstr("attention_mask[0][0] = 0 has position 1, which is outside [0, 1)")),
                    ReasonIs("POSITION_OUT_OF_RANGE")));
}

TEST(PositionLimit, RowOffsetShortensTheTable) {
  Rule rule = kBart;
  rule.rows = 6;
  EXPECT_EQ(ModelOf(rule)->max_context_length(), 4);
  EXPECT_THAT(RowsOf(rule, Batch(1, {5, 5, 5, 5, 5})),
              StatusIs(kInvalid, HasSubstr("sequence_length 5 exceeds max_context_length 4")));
}

TEST(PositionLimit, OffsetCountsBesideTheLength) {
  EXPECT_THAT(RowsOf({.rows = 6}, WithOffsets(Batch(2, {5, 5, 5, 5}), {0, 5})),
              AllOf(StatusIs(kInvalid, HasSubstr("position_offsets[1] = 5 with sequence_length 2 exceeds "
                                                 "max_context_length 6")),
                    ReasonIs("POSITION_OUT_OF_RANGE")));
}

TEST(PositionLimit, HugeOffsetsAreRefusedWithoutOverflow) {
  for (const std::int64_t offset : {std::int64_t{1} << 62, std::numeric_limits<std::int64_t>::max(), std::int64_t{-1},
                                    std::numeric_limits<std::int64_t>::min()}) {
    for (const Rule& rule : {kGpt2, kBart, kOpt, kRoberta}) {
      EXPECT_THAT(RowsOf(rule, WithOffsets(Batch(1, {5, 5}), {offset})), ReasonIs("POSITION_OUT_OF_RANGE")) << offset;
    }
  }
}

TEST(PositionLimit, HugePositionIdsAreRefusedWhereNoTableIsLookedAtToo) {
  EmbedInput input = Batch(1, {5, 5});
  input.part = Part::kToken;
  input.position_ids = {0, std::numeric_limits<std::int64_t>::max()};
  EXPECT_THAT(RowsOf(kGpt2, input),
              AllOf(StatusIs(kInvalid, HasSubstr("must be less than 2^62")), ReasonIs("POSITION_OUT_OF_RANGE")));
}

TEST(PositionLimit, ExplicitIdPastTheTableIsNamed) {
  EmbedInput input = Batch(1, {5, 5});
  input.position_ids = {0, 18};
  EXPECT_THAT(RowsOf(kBart, input), StatusIs(kInvalid, HasSubstr("position_ids[0][1] = 18 is outside [0, 18)")));
}

TEST(PositionLimit, EmptyBatchHasNoPositions) {
  EmbedInput input = {.batch_size = 0, .sequence_length = 3};
  EXPECT_THAT(*RowsOf(kGpt2, input), IsEmpty());
}

ModelParts PartsWith(const Rule& rule) {
  ModelParts parts{.name = "m", .token = ModelTable::Of(MakeFloatTable(5, 1, std::vector<float>(5)), "test", true)};
  parts.position = ModelTable::Of(MakeFloatTable(rule.rows, 1, std::vector<float>(static_cast<std::size_t>(rule.rows))),
                                  "test", true);
  parts.position_encoding = PositionEncoding::kLearned;
  parts.numbering = rule.numbering;
  parts.row_offset = rule.row_offset;
  parts.padding_idx = rule.padding_idx;
  return parts;
}

TEST(PositionModel, NumberingThatLeavesNoRowIsRefused) {
  EXPECT_THAT(Model::Create(PartsWith({.numbering = Numbering::kPadding, .padding_idx = 1, .rows = 2})),
              StatusIs(kInvalid, HasSubstr("the position table has 2 rows, but numbering padding begins at row 2")));
  EXPECT_THAT(Model::Create(PartsWith({.numbering = Numbering::kFixed, .row_offset = 2, .rows = 2})),
              ReasonIs("INVALID_MODEL"));
}

TEST(PositionModel, NumberingThatLacksSomethingIsRefused) {
  EXPECT_THAT(Model::Create(PartsWith({.numbering = Numbering::kPadding})),
              StatusIs(kInvalid, HasSubstr("numbering padding needs padding_idx")));
  EXPECT_THAT(Model::Create(PartsWith({.numbering = Numbering::kMask})),
              StatusIs(kInvalid, HasSubstr("needs a row_offset of at least 1")));
}

TEST(PositionModel, PaddingIdOutsideTheTableIsRefused) {
  EXPECT_THAT(Model::Create(PartsWith({.padding_idx = 5})),
              StatusIs(kInvalid, HasSubstr("padding_idx = 5 is outside [0, 5)")));
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(Model::Create(PartsWith({.numbering = Numbering::kPadding, .padding_idx = kLargest})),
              StatusIs(kInvalid, HasSubstr("is outside [0, 5)")));
}

}  // namespace
}  // namespace embd::core
