#include "server/core/engine/batch_shape.h"

#include <limits>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

EmbedInput Ragged(std::vector<std::int64_t> lengths) { return {.row_lengths = std::move(lengths)}; }

TEST(BatchShape, PaddedRowsAreAsLongAsTheLongest) {
  ASSERT_OK_AND_ASSIGN(const BatchShape shape, BatchShape::Create(Ragged({3, 0, 5})));

  EXPECT_THAT(shape.OutputShape(4), ElementsAre(3, 5, 4));
  EXPECT_EQ(shape.cells(), 8);
  EXPECT_EQ(shape.output_rows(), 15);
}

TEST(BatchShape, PackedRowsStandOneAfterTheOther) {
  EmbedInput input = Ragged({3, 0, 5});
  input.packed = true;
  ASSERT_OK_AND_ASSIGN(const BatchShape shape, BatchShape::Create(input));

  EXPECT_THAT(shape.OutputShape(4), ElementsAre(8, 4));
  EXPECT_EQ(shape.output_rows(), 8);
}

TEST(BatchShape, SequenceLengthMakesPaddedRowsLonger) {
  EmbedInput input = Ragged({1, 2});
  input.sequence_length = 7;
  EXPECT_THAT(BatchShape::Create(input)->OutputShape(1), ElementsAre(2, 7, 1));
  input.packed = true;
  EXPECT_THAT(BatchShape::Create(input)->OutputShape(1), ElementsAre(3, 1));
}

TEST(BatchShape, RowsWithoutCellsAreRows) {
  ASSERT_OK_AND_ASSIGN(const BatchShape shape, BatchShape::Create(Ragged({0, 0})));
  EXPECT_THAT(shape.OutputShape(4), ElementsAre(2, 0, 4));
}

TEST(BatchShape, CellsAreNamedByTheirRow) {
  ASSERT_OK_AND_ASSIGN(const BatchShape ragged, BatchShape::Create(Ragged({3, 0, 5})));
  EXPECT_EQ(ragged.CellName("ids", 2), "ids[0][2]");
  EXPECT_EQ(ragged.CellName("ids", 3), "ids[2][0]");
  ASSERT_OK_AND_ASSIGN(const BatchShape equal, BatchShape::Create({.batch_size = 2, .sequence_length = 3}));
  EXPECT_EQ(equal.CellName("ids", 4), "ids[1][1]");
}

TEST(BatchShape, NextSkipsRowsWithoutCells) {
  ASSERT_OK_AND_ASSIGN(const BatchShape shape, BatchShape::Create(Ragged({1, 0, 0, 2})));

  const BatchShape::Place second = shape.Next(shape.PlaceOf(0));

  EXPECT_EQ(second.row, 3);
  EXPECT_EQ(second.column, 0);
  EXPECT_EQ(shape.Next(second).column, 1);
}

TEST(BatchShape, NegativeAndHugeLengthsAreRefused) {
  EXPECT_THAT(BatchShape::Create(Ragged({3, -1})), StatusIs(kInvalid, HasSubstr("row_lengths[1] = -1 must be >= 0")));
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(BatchShape::Create(Ragged({kLargest, kLargest})), ReasonIs("INVALID_SHAPE"));
}

TEST(BatchShape, BatchSizeThatContradictsTheRowsIsRefusedWithBoth) {
  EmbedInput input = Ragged({3, 4});
  input.batch_size = 3;
  EXPECT_THAT(BatchShape::Create(input),
              StatusIs(kInvalid, HasSubstr("row_lengths has 2 values, but batch_size is 3")));
}

TEST(BatchShape, SequenceLengthLessThanTheLongestRowIsRefusedWithBoth) {
  EmbedInput input = Ragged({3, 4});
  input.sequence_length = 3;
  EXPECT_THAT(BatchShape::Create(input),
              StatusIs(kInvalid, HasSubstr("sequence_length 3 is less than the longest of row_lengths, 4")));
  input.sequence_length = -1;
  EXPECT_THAT(BatchShape::Create(input), ReasonIs("INVALID_SHAPE"));
}

TEST(BatchShape, OptionsOfRaggedRowsNeedLengths) {
  EXPECT_THAT(BatchShape::Create({.batch_size = 1, .sequence_length = 1, .packed = true}),
              AllOf(StatusIs(kInvalid, HasSubstr("PACKED needs row_lengths")), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(BatchShape::Create({.batch_size = 1, .sequence_length = 1, .pad_left = true}),
              StatusIs(kInvalid, HasSubstr("LEFT needs row_lengths")));
  EmbedInput both = Ragged({1});
  both.packed = both.pad_left = true;
  EXPECT_THAT(BatchShape::Create(both), ReasonIs("INVALID_OPTION"));
}

}  // namespace
}  // namespace embd::core
