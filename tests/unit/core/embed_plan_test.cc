#include "server/core/engine/embed_plan.h"

#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/engine/model_registry.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::MakeFloatTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr EmbedLimits kLimits = {.max_batch_size = 8, .max_sequence_length = 16, .max_response_bytes = 4096};
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

// V 10, D 2, L 8: token row i is (i, 10 i), position row p is (100 p, 0).
std::shared_ptr<const Model> TinyModel(PositionEncoding encoding = PositionEncoding::kLearned) {
  std::vector<float> token, position;
  for (int i = 0; i < 10; ++i) token.insert(token.end(), {static_cast<float>(i), 10.0f * static_cast<float>(i)});
  for (int p = 0; p < 8; ++p) position.insert(position.end(), {100.0f * static_cast<float>(p), 0.0f});
  ModelParts parts{.name = "tiny", .token = ModelTable::Of(MakeFloatTable(10, 2, token), "test", true)};
  parts.position_encoding = encoding;
  if (encoding == PositionEncoding::kLearned)
    parts.position = ModelTable::Of(MakeFloatTable(8, 2, position), "test", true);
  return Model::Create(std::move(parts)).value();
}

EmbedInput Input(std::int64_t batch, std::int64_t tokens, std::vector<std::int64_t> ids) {
  return {.batch_size = batch, .sequence_length = tokens, .ids = std::move(ids)};
}

absl::StatusOr<std::vector<float>> Embed(EmbedInput input, PositionEncoding encoding = PositionEncoding::kLearned) {
  const auto plan = EmbedPlan::Create(TinyModel(encoding), std::move(input), kLimits);
  if (!plan.ok()) return plan.status();
  std::vector<float> out(plan->byte_size() / sizeof(float));
  plan->Compose(0, plan->row_count(), std::as_writable_bytes(std::span(out)));
  return out;
}

TEST(EmbedPlan, ComposedIsTokenPlusPosition) {
  EXPECT_THAT(*Embed(Input(2, 2, {1, 2, 3, 4})), ElementsAre(1, 10, 102, 20, 3, 30, 104, 40));
}

TEST(EmbedPlan, PartsAreTheTwoTermsOfTheSum) {
  EmbedInput token = Input(1, 2, {1, 2});
  token.part = Part::kToken;
  EmbedInput position = Input(1, 2, {});
  position.part = Part::kPosition;

  EXPECT_THAT(*Embed(token), ElementsAre(1, 10, 2, 20));
  EXPECT_THAT(*Embed(position), ElementsAre(0, 0, 100, 0));
}

TEST(EmbedPlan, ComposedWithoutPositionTableIsToken) {
  for (const auto encoding : {PositionEncoding::kNone, PositionEncoding::kRotary}) {
    EXPECT_THAT(*Embed(Input(1, 2, {1, 2}), encoding), ElementsAre(1, 10, 2, 20));
  }
}

TEST(EmbedPlan, PositionOfAModelWithoutPositionTableIsRefused) {
  EmbedInput input = Input(1, 2, {});
  input.part = Part::kPosition;

  EXPECT_THAT(Embed(input, PositionEncoding::kRotary),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("its position encoding is rotary")),
                    ReasonIs("NO_POSITION_TABLE")));
}

TEST(EmbedPlan, OffsetsShiftAllRowsOrEachRow) {
  EmbedInput one = Input(2, 1, {0, 0});
  one.position_offsets = {3};
  EmbedInput each = Input(2, 1, {0, 0});
  each.position_offsets = {3, 7};

  EXPECT_THAT(*Embed(one), ElementsAre(300, 0, 300, 0));
  EXPECT_THAT(*Embed(each), ElementsAre(300, 0, 700, 0));
}

TEST(EmbedPlan, PositionIdsAreSharedOrPerCell) {
  EmbedInput shared = Input(2, 2, {0, 0, 0, 0});
  shared.position_ids = {7, 1};
  EmbedInput each = Input(2, 2, {0, 0, 0, 0});
  each.position_ids = {7, 1, 2, 2};

  EXPECT_THAT(*Embed(shared), ElementsAre(700, 0, 100, 0, 700, 0, 100, 0));
  EXPECT_THAT(*Embed(each), ElementsAre(700, 0, 100, 0, 200, 0, 200, 0));
}

TEST(EmbedPlan, AnySplitIntoRowRangesGivesTheSameResult) {
  EmbedInput input = Input(8, 16, {});
  for (int i = 0; i < 128; ++i) input.ids.push_back(i % 10);
  input.sequence_length = 16;
  input.part = Part::kToken;
  const auto plan = EmbedPlan::Create(TinyModel(), input, kLimits);
  ASSERT_THAT(plan, IsOk());
  std::vector<float> whole(256), pieces(256, -1.0f);
  plan->Compose(0, 128, std::as_writable_bytes(std::span(whole)));

  for (std::int64_t first = 0; first < 128;) {
    const std::int64_t rows = std::min<std::int64_t>(1 + first % 7, 128 - first);
    plan->Compose(first, rows,
                  std::as_writable_bytes(std::span(pieces).subspan(static_cast<std::size_t>(first * 2),
                                                                   static_cast<std::size_t>(rows * 2))));
    first += rows;
  }

  EXPECT_EQ(pieces, whole);
}

TEST(EmbedPlan, EmptyBatchIsAnEmptyResult) { EXPECT_THAT(*Embed(Input(0, 3, {})), ElementsAre()); }

TEST(EmbedPlan, ShapeAndCountMustAgree) {
  EXPECT_THAT(Embed(Input(2, 3, {1, 2, 3, 4, 5})),
              AllOf(StatusIs(kInvalid, "ids has 5 values, but batch_size 2 x sequence_length 3 asks for 6"),
                    ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(Embed(Input(0, 3, {1, 2, 3})), StatusIs(kInvalid, HasSubstr("ids has 3 values")));
  EXPECT_THAT(Embed(Input(-1, 3, {})), StatusIs(kInvalid, "batch_size must be >= 0, got -1"));
  EXPECT_THAT(Embed(Input(1, 0, {})), StatusIs(kInvalid, "sequence_length must be >= 1, got 0"));
  EXPECT_THAT(Embed(Input(std::numeric_limits<std::int64_t>::max(), 3, {})),
              StatusIs(kInvalid, HasSubstr("more than 2^63 - 1")));
}

TEST(EmbedPlan, BadIdIsNamedWithItsCellAndTheRange) {
  struct Case {
    std::int64_t id;
    const char* text;
  };
  const Case cases[] = {
      {-1, "ids[1][2] = -1 is outside [0, 10) of model \"tiny\""},
      {10, "ids[1][2] = 10 is outside [0, 10) of model \"tiny\""},
      {std::int64_t{1} << 32, "ids[1][2] = 4294967296 is outside [0, 10) of model \"tiny\""},
      {std::numeric_limits<std::int64_t>::max(),
       "ids[1][2] = 9223372036854775807 is outside [0, 10) of model \"tiny\""},
      {std::numeric_limits<std::int64_t>::min(),
       "ids[1][2] = -9223372036854775808 is outside [0, 10) of model \"tiny\""},
  };
  for (const auto& [id, text] : cases) {
    EXPECT_THAT(Embed(Input(2, 3, {0, 0, 0, 0, 0, id})), AllOf(StatusIs(kInvalid, text), ReasonIs("ID_OUT_OF_RANGE")));
  }
}

TEST(EmbedPlan, OnlyTheFirstBadCellIsNamed) {
  EXPECT_THAT(Embed(Input(1, 3, {0, 11, 12})), StatusIs(kInvalid, HasSubstr("ids[0][1] = 11")));
}

TEST(EmbedPlan, SequencePastTheTableIsRefusedAsInTheLesson) {
  EXPECT_THAT(Embed(Input(1, 9, std::vector<std::int64_t>(9))),
              AllOf(StatusIs(kInvalid, "sequence_length 9 exceeds max_context_length 8 of model \"tiny\""),
                    ReasonIs("SEQUENCE_TOO_LONG")));
}

TEST(EmbedPlan, SequenceOfAnyLengthIsServedWhereNoPositionTableIsUsed) {
  EmbedInput input = Input(1, 9, std::vector<std::int64_t>(9));
  input.part = Part::kToken;

  EXPECT_THAT(Embed(input), IsOk());
  EXPECT_THAT(Embed(Input(1, 9, std::vector<std::int64_t>(9)), PositionEncoding::kRotary), IsOk());
}

TEST(EmbedPlan, BadOffsetsAreNamed) {
  const auto with_offsets = [](std::vector<std::int64_t> offsets) {
    EmbedInput input = Input(3, 2, std::vector<std::int64_t>(6));
    input.position_offsets = std::move(offsets);
    return Embed(input);
  };

  EXPECT_THAT(with_offsets({0, 6, 6}), IsOk());
  EXPECT_THAT(with_offsets({0, 0}), AllOf(StatusIs(kInvalid,
                                                   "position_offsets has 2 values; allowed are none, 1 or "
                                                   "batch_size = 3"),
                                          ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(with_offsets({0, -1, 0}), StatusIs(kInvalid, "position_offsets[1] = -1 must be >= 0"));
  EXPECT_THAT(with_offsets({0, 7, 0}),
              AllOf(StatusIs(kInvalid,
                             "position_offsets[1] = 7 with sequence_length 2 exceeds max_context_length 8 of "
                             "model \"tiny\""),
                    ReasonIs("POSITION_OUT_OF_RANGE")));
  EXPECT_THAT(with_offsets({std::numeric_limits<std::int64_t>::max()}),
              StatusIs(kInvalid, HasSubstr("position_offsets[0] = 9223372036854775807")));
}

TEST(EmbedPlan, BadPositionIdsAreNamed) {
  const auto with_positions = [](std::vector<std::int64_t> positions, PositionEncoding encoding) {
    EmbedInput input = Input(2, 2, {0, 0, 0, 0});
    input.position_ids = std::move(positions);
    return Embed(input, encoding);
  };
  constexpr auto kLearned = PositionEncoding::kLearned;

  EXPECT_THAT(with_positions({0, 0, 0}, kLearned),
              StatusIs(kInvalid,
                       "position_ids has 3 values; allowed are none, sequence_length = 2 or batch_size x "
                       "sequence_length = 4"));
  EXPECT_THAT(with_positions({0, 8}, kLearned),
              StatusIs(kInvalid, "position_ids[1] = 8 is outside [0, 8) of model \"tiny\""));
  EXPECT_THAT(with_positions({0, 0, 0, -1}, kLearned),
              AllOf(StatusIs(kInvalid, "position_ids[1][1] = -1 is outside [0, 8) of model \"tiny\""),
                    ReasonIs("POSITION_OUT_OF_RANGE")));
  EXPECT_THAT(with_positions({0, -1}, PositionEncoding::kNone),
              StatusIs(kInvalid, "position_ids[1] = -1 must be >= 0"));
  EXPECT_THAT(with_positions({0, 1'000'000}, PositionEncoding::kNone), IsOk());
}

TEST(EmbedPlan, OffsetsAndPositionIdsExcludeEachOther) {
  EmbedInput input = Input(1, 1, {0});
  input.position_ids = {0};
  input.position_offsets = {0};

  EXPECT_THAT(Embed(input), AllOf(StatusIs(kInvalid, "position_ids and position_offsets exclude each other"),
                                  ReasonIs("INVALID_OPTION")));
}

TEST(EmbedPlan, EveryLimitBitesAndIsNamed) {
  EXPECT_THAT(
      Embed(Input(9, 1, std::vector<std::int64_t>(9))),
      AllOf(StatusIs(kExhausted, HasSubstr("batch_size 9 exceeds max_batch_size 8")), ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(Embed(Input(1, 17, std::vector<std::int64_t>(17))),
              AllOf(StatusIs(kExhausted, HasSubstr("sequence_length 17 exceeds max_sequence_length 16")),
                    ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(EmbedPlan::Create(TinyModel(), Input(2, 4, std::vector<std::int64_t>(8)),
                                {.max_batch_size = 8, .max_sequence_length = 16, .max_response_bytes = 63}),
              AllOf(StatusIs(kExhausted, HasSubstr("the (2, 4, 2) float32 reply needs 64 bytes, which exceeds "
                                                   "max_response_bytes 63")),
                    ReasonIs("RESPONSE_TOO_LARGE")));
}

TEST(Model, TablesMustShareTheirWidth) {
  ModelParts parts{.name = "m", .token = ModelTable::Of(MakeFloatTable(1, 4, std::vector<float>(4)), "test", true)};
  parts.position = ModelTable::Of(MakeFloatTable(1, 8, std::vector<float>(8)), "test", true);
  parts.position_encoding = PositionEncoding::kLearned;

  EXPECT_THAT(Model::Create(std::move(parts)),
              StatusIs(kInvalid, HasSubstr("token and position tables must share embedding_dim (4 vs 8)")));
}

TEST(Model, VocabularyMustHaveAWordForEachRow) {
  Vocabulary::Builder words;
  for (int i = 0; i < 12; ++i) words.Add(std::to_string(i));
  ModelParts parts{.name = "m", .token = ModelTable::Of(MakeFloatTable(10, 1, std::vector<float>(10)), "test", true)};
  parts.vocabulary = std::move(words).Build().value();

  EXPECT_THAT(Model::Create(std::move(parts)), StatusIs(kInvalid, HasSubstr("has 12 words, the token table 10 rows")));
}

TEST(Model, ChecksumCoversBothTables) {
  EXPECT_NE(TinyModel(PositionEncoding::kLearned)->checksum(), TinyModel(PositionEncoding::kNone)->checksum());
  EXPECT_EQ(TinyModel()->checksum(), TinyModel()->checksum());
}

TEST(ModelRegistry, UnknownModelIsRefusedWithTheNamesThereAre) {
  ModelRegistry registry;
  registry.Put(TinyModel());

  EXPECT_THAT(registry.Find("large", ""),
              AllOf(StatusIs(absl::StatusCode::kNotFound, "there is no model \"large\"; there is \"tiny\""),
                    ReasonIs("MODEL_NOT_FOUND")));
  EXPECT_THAT(registry.Find("tiny", "2"),
              AllOf(StatusIs(absl::StatusCode::kNotFound, "model \"tiny\" has no version \"2\"; it has \"1\""),
                    ReasonIs("VERSION_NOT_FOUND")));
  EXPECT_THAT(registry.Find("tiny", ""), IsOk());
  EXPECT_THAT(registry.Find("tiny", "1"), IsOk());
}

TEST(ModelRegistry, RemovedModelStaysWithWhoeverHasIt) {
  ModelRegistry registry;
  registry.Put(TinyModel());
  auto reader = registry.Find("tiny", "").value();
  const std::weak_ptr<const Model> watched = reader;

  registry.Remove("tiny");
  registry.Remove("tiny");

  EXPECT_THAT(registry.Find("tiny", ""), StatusIs(absl::StatusCode::kNotFound, HasSubstr("there are none")));
  EXPECT_FALSE(watched.expired());
  reader.reset();
  EXPECT_TRUE(watched.expired());
}

TEST(ModelRegistry, ListsAtMostTenNames) {
  ModelRegistry registry;
  for (int i = 0; i < 12; ++i) {
    registry.Put(Model::Create({.name = "m" + std::to_string(10 + i),
                                .token = ModelTable::Of(MakeFloatTable(1, 1, {0}), "test", true)})
                     .value());
  }

  EXPECT_THAT(registry.Find("x", ""), StatusIs(absl::StatusCode::kNotFound, AllOf(HasSubstr("\"m19\" and 2 more"),
                                                                                  ::testing::Not(HasSubstr("m20")))));
}

}  // namespace
}  // namespace embd::core
