// What a model's input stage computes beyond token plus position: scale, token types, LayerNorm, ids out of range,
// given vectors, masked cells, growing tables, and what replies warn of.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/engine/embed_plan.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::MakeTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr EmbedLimits kLimits = {.max_batch_size = 8, .max_sequence_length = 64, .max_response_bytes = 4096};
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
using Rows = std::vector<std::vector<double>>;

ModelTable TableOf(const Rows& rows) { return ModelTable::Of(MakeTable(rows), "test", true); }

// Token row i is (i, -i).
ModelParts Tokens(std::int64_t count) {
  Rows rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back({static_cast<double>(i), -static_cast<double>(i)});
  return {.name = "m", .token = TableOf(rows)};
}

void AddPositions(const Rows& rows, ModelParts* parts) {
  parts->position = TableOf(rows);
  parts->position_encoding = PositionEncoding::kLearned;
}

EmbedInput Batch(std::vector<std::int64_t> ids) {
  const auto tokens = static_cast<std::int64_t>(ids.size());
  return {.batch_size = 1, .sequence_length = tokens, .ids = std::move(ids)};
}

std::vector<float> Compose(const EmbedPlan& plan) {
  std::vector<float> out(plan.byte_size() / sizeof(float));
  plan.Compose(0, plan.row_count(), std::as_writable_bytes(std::span(out)));
  return out;
}

absl::StatusOr<EmbedPlan> Plan(ModelParts parts, EmbedInput input) {
  auto model = Model::Create(std::move(parts));
  if (!model.ok()) return model.status();
  return EmbedPlan::Create(*std::move(model), std::move(input), kLimits);
}

std::vector<float> Embed(ModelParts parts, EmbedInput input) { return Compose(Plan(std::move(parts), input).value()); }

EmbedInput Given(ElementType type, const std::vector<double>& values, std::vector<std::int64_t> shape) {
  const Table table = MakeTable({values}, type);
  EmbedInput input = {.batch_size = shape[0], .sequence_length = shape.size() == 3 ? shape[1] : 0};
  input.inputs_embeds = {.type = type,
                         .shape = std::move(shape),
                         .data = {reinterpret_cast<const char*>(table.bytes().data()), table.bytes().size()}};
  return input;
}

TEST(TokenScale, MultipliesTokenRowsAndNothingElse) {
  ModelParts parts = Tokens(5);
  parts.token_scale = 2.0f;
  AddPositions({{100, 200}}, &parts);

  EXPECT_THAT(Embed(std::move(parts), Batch({3})), ElementsAre(106, 194));
}

TEST(TokenScale, IsPartOfTheTokenPart) {
  ModelParts parts = Tokens(5);
  parts.token_scale = 2.0f;
  EmbedInput input = Batch({3});
  input.part = Part::kToken;

  EXPECT_THAT(Embed(std::move(parts), input), ElementsAre(6, -6));
}

TEST(TokenTypes, RowZeroIsAddedWhereNoneAreSent) {
  ModelParts parts = Tokens(5);
  parts.token_types = TokenTypes{.table = TableOf({{10, 20}, {30, 40}})};

  EXPECT_THAT(Embed(std::move(parts), Batch({1, 2})), ElementsAre(11, 19, 12, 18));
}

TEST(TokenTypes, RowsFollowWhatIsSent) {
  ModelParts parts = Tokens(5);
  parts.token_types = TokenTypes{.table = TableOf({{10, 20}, {30, 40}})};
  EmbedInput input = Batch({1, 2});
  input.token_type_ids = {1, 0};

  EXPECT_THAT(Embed(std::move(parts), input), ElementsAre(31, 39, 12, 18));
}

TEST(TokenTypes, OfTheTokenTableAreItsRowsAndOnlyWhenSent) {
  const auto parts = [] {
    ModelParts gpt2 = Tokens(5);
    gpt2.token_types = TokenTypes{.only_when_sent = true};
    gpt2.token_scale = 3.0f;
    return gpt2;
  };
  EmbedInput input = Batch({1, 2});
  EXPECT_THAT(Embed(parts(), input), ElementsAre(3, -3, 6, -6));
  input.token_type_ids = {4, 0};
  EXPECT_THAT(Embed(parts(), input), ElementsAre(7, -7, 6, -6)) << "types are added unscaled";
}

TEST(TokenTypes, AreNoPartOfTokenAndPosition) {
  const auto parts = [] {
    ModelParts model = Tokens(5);
    model.token_types = TokenTypes{.table = TableOf({{10, 20}})};
    AddPositions({{100, 200}}, &model);
    return model;
  };
  EmbedInput input = Batch({1});
  input.part = Part::kToken;
  EXPECT_THAT(Embed(parts(), input), ElementsAre(1, -1));
  input.part = Part::kPosition;
  EXPECT_THAT(Embed(parts(), input), ElementsAre(100, 200));
}

// 1 - 1 + 2^-24 in float32: the small term lasts only where it is added last.
TEST(SumOrder, DecidesWhichTermIsAddedFirst) {
  const auto parts = [](bool position_before_type) {
    ModelParts model{.name = "m", .token = TableOf({{1}})};
    model.token_types = TokenTypes{.table = TableOf({{-1}})};
    model.position_before_type = position_before_type;
    AddPositions({{0x1p-24}}, &model);
    return model;
  };
  EXPECT_THAT(Embed(parts(false), Batch({0})), ElementsAre(0x1p-24f));
  EXPECT_THAT(Embed(parts(true), Batch({0})), ElementsAre(0.0f));
}

TEST(TokenTypes, OutsideTheTableNameTheirCell) {
  ModelParts parts = Tokens(5);
  parts.token_types = TokenTypes{.table = TableOf({{10, 20}, {30, 40}})};
  EmbedInput input = Batch({1, 2});
  input.token_type_ids = {1, 2};
  EXPECT_THAT(Plan(std::move(parts), input),
              AllOf(StatusIs(kInvalid, HasSubstr("token_type_ids[0][1] = 2 is outside [0, 2) of model \"m\"")),
                    ReasonIs("TOKEN_TYPE_OUT_OF_RANGE")));
}

TEST(TokenTypes, AreRefusedByAModelWithoutThem) {
  EmbedInput input = Batch({1});
  input.token_type_ids = {0};
  EXPECT_THAT(Plan(Tokens(5), input),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("adds no token types")),
                    ReasonIs("NO_TOKEN_TYPES")));
}

TEST(ModelLayerNorm, NormalisesComposedRowsOnly) {
  const auto parts = [] {
    ModelParts model{.name = "m", .token = TableOf({{3, 1}})};
    AddPositions({{2, 0}}, &model);
    model.layer_norm = ModelLayerNorm{.parameters = {.weight = {1, 1}, .bias = {10, 20}, .eps = 0}, .source = "test"};
    return model;
  };
  EmbedInput input = Batch({0});
  EXPECT_THAT(Embed(parts(), input), ElementsAre(11, 19));
  input.part = Part::kToken;
  EXPECT_THAT(Embed(parts(), input), ElementsAre(3, 1));
}

TEST(ModelLayerNorm, OfAnotherWidthIsRefused) {
  ModelParts parts = Tokens(3);
  parts.layer_norm = ModelLayerNorm{.parameters = {.weight = {1, 1, 1}, .bias = {0, 0, 0}}, .source = "test"};
  EXPECT_THAT(Model::Create(std::move(parts)),
              StatusIs(kInvalid, HasSubstr("layer_norm.weight has 3 elements, embedding_dim is 2")));
}

TEST(ModelLayerNorm, EpsThatIsNoNumberOrNegativeIsRefused) {
  for (const float eps : {-1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    ModelParts parts = Tokens(3);
    parts.layer_norm = ModelLayerNorm{.parameters = {.weight = {1, 1}, .bias = {0, 0}, .eps = eps}, .source = "test"};
    EXPECT_THAT(Model::Create(std::move(parts)), StatusIs(kInvalid, HasSubstr("layer_norm.eps must be finite")));
  }
}

TEST(ModelPositions, EncodingAndTableGoTogether) {
  ModelParts without = Tokens(3);
  without.position_encoding = PositionEncoding::kLearned;
  EXPECT_THAT(Model::Create(std::move(without)),
              StatusIs(kInvalid, HasSubstr("position encoding learned needs a position table")));
  ModelParts unasked = Tokens(3);
  AddPositions({{2, 0}}, &unasked);
  unasked.position_encoding = PositionEncoding::kRotary;
  EXPECT_THAT(Model::Create(std::move(unasked)),
              StatusIs(kInvalid, HasSubstr("position encoding rotary has no position table")));
}

TEST(ModelPositions, RowOffsetIsFarFromOverflow) {
  for (const std::int64_t offset : {std::int64_t{-1}, (std::int64_t{1} << 32) + 1}) {
    ModelParts parts = Tokens(3);
    AddPositions({{2, 0}}, &parts);
    parts.row_offset = offset;
    EXPECT_THAT(Model::Create(std::move(parts)), StatusIs(kInvalid, HasSubstr("row_offset must be from 0 to 2^32")));
  }
}

TEST(ModelChecksum, CoversEverySettingThatChangesResults) {
  const auto checksum_of = [](auto set) {
    ModelParts parts = Tokens(4);
    parts.position = TableOf({{1, 1}, {2, 2}, {3, 3}});
    parts.position_encoding = PositionEncoding::kLearned;
    parts.token_types = TokenTypes{.table = TableOf({{5, 5}})};
    parts.layer_norm = ModelLayerNorm{.parameters = {.weight = {1, 1}, .bias = {0, 0}}};
    set(parts);
    return Model::Create(std::move(parts)).value()->checksum();
  };
  std::vector<std::string> sums = {
      checksum_of([](ModelParts&) {}),
      checksum_of([](ModelParts& parts) { parts.token_scale = 2; }),
      checksum_of([](ModelParts& parts) { parts.out_of_range = OutOfRangePolicy::kZero; }),
      checksum_of([](ModelParts& parts) { parts.out_of_range = OutOfRangePolicy::kUnk; }),
      checksum_of([](ModelParts& parts) {
        parts.out_of_range = OutOfRangePolicy::kUnk;
        parts.unk_id = 1;
      }),
      checksum_of([](ModelParts& parts) { parts.dropout_mask_id = 0; }),
      checksum_of([](ModelParts& parts) { parts.token_types->only_when_sent = true; }),
      checksum_of([](ModelParts& parts) { parts.position_before_type = true; }),
      checksum_of([](ModelParts& parts) { parts.numbering = Numbering::kFixed; }),
      checksum_of([](ModelParts& parts) { parts.row_offset = 1; }),
      checksum_of([](ModelParts& parts) { parts.layer_norm->parameters.eps = 1e-12; }),
      checksum_of([](ModelParts& parts) { parts.zero_masked = true; }),
      checksum_of([](ModelParts& parts) { parts.saturate = true; }),
      checksum_of([](ModelParts& parts) { parts.output.scale = 2; }),
      checksum_of([](ModelParts& parts) { parts.output.softcap = 2; }),
      checksum_of([](ModelParts& parts) {
        parts.output.bias = {0, 0, 0, 0};
      }),
  };

  std::sort(sums.begin(), sums.end());

  EXPECT_EQ(std::adjacent_find(sums.begin(), sums.end()), sums.end()) << "two models have one checksum";
}

// Nothing is scored by its token table then.
TEST(ModelChecksum, LeavesOutTheOutputOfAModelThatIsNotTied) {
  ModelParts parts = Tokens(4);
  parts.output = {.tied = false, .scale = 2, .softcap = 3, .bias = {0, 0, 0, 0}};

  EXPECT_EQ(Model::Create(std::move(parts)).value()->checksum(), Model::Create(Tokens(4)).value()->checksum());
}

TEST(ModelOutput, ThatScoresNothingIsRefused) {
  const auto create = [](const ModelOutput& output) {
    ModelParts parts = Tokens(3);
    parts.output = output;
    return Model::Create(std::move(parts));
  };
  EXPECT_THAT(create({.scale = 0}), StatusIs(kInvalid, HasSubstr("output.scale must be a finite number > 0, got 0")));
  EXPECT_THAT(create({.softcap = -1}), StatusIs(kInvalid, HasSubstr("output.softcap must be a finite number > 0")));
  EXPECT_THAT(create({.bias = {1, 2}}), StatusIs(kInvalid, HasSubstr("output.bias has 2 elements, vocab_size is 3")));
}

TEST(ModelLayerNorm, IsPartOfTheChecksum) {
  const auto checksum_of = [](float weight) {
    ModelParts parts = Tokens(3);
    parts.layer_norm = ModelLayerNorm{.parameters = {.weight = {1, weight}, .bias = {0, 0}}, .source = "test"};
    return Model::Create(std::move(parts)).value()->checksum();
  };
  EXPECT_EQ(checksum_of(1), checksum_of(1));
  EXPECT_NE(checksum_of(1), checksum_of(2));
}

TEST(OutOfRangeIds, AreRefusedByDefault) {
  for (const std::int64_t id : {std::int64_t{5}, std::int64_t{-1}, std::int64_t{4294967295}, std::int64_t{1} << 32,
                                std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    EXPECT_THAT(Plan(Tokens(5), Batch({0, id})), ReasonIs("ID_OUT_OF_RANGE")) << id;
  }
}

TEST(OutOfRangeIds, ReadTheUnknownRowWhereTheModelSaysSo) {
  ModelParts parts = Tokens(5);
  parts.out_of_range = OutOfRangePolicy::kUnk;
  parts.unk_id = 3;
  EXPECT_THAT(Embed(std::move(parts), Batch({5, 1, -1})), ElementsAre(3, -3, 1, -1, 3, -3));
}

TEST(OutOfRangeIds, ReadZerosWhereTheModelSaysSo) {
  ModelParts parts = Tokens(5);
  parts.out_of_range = OutOfRangePolicy::kZero;
  AddPositions({{100, 200}, {300, 400}, {500, 600}}, &parts);
  EXPECT_THAT(Embed(std::move(parts), Batch({5, 1, -1})), ElementsAre(100, 200, 301, 399, 500, 600));
}

TEST(OutOfRangeIds, AreCountedAndWarnedOf) {
  ModelParts parts = Tokens(5);
  parts.out_of_range = OutOfRangePolicy::kUnk;
  parts.unk_id = 3;
  const std::shared_ptr<const Model> model = Model::Create(std::move(parts)).value();

  ASSERT_OK_AND_ASSIGN(const EmbedPlan first, EmbedPlan::Create(model, Batch({5, 1, -1}), kLimits));
  ASSERT_OK_AND_ASSIGN(const EmbedPlan good, EmbedPlan::Create(model, Batch({1}), kLimits));
  ASSERT_OK_AND_ASSIGN(const EmbedPlan second, EmbedPlan::Create(model, Batch({7}), kLimits));

  EXPECT_EQ(model->out_of_range_ids(), 3);
  EXPECT_THAT(first.warnings(), ElementsAre("2 ids were outside [0, 5), read as id 3"));
  EXPECT_THAT(good.warnings(), IsEmpty());
  EXPECT_THAT(second.warnings(), ElementsAre("1 id was outside [0, 5), read as id 3"));
  EXPECT_TRUE(first.first_out_of_range());
  EXPECT_FALSE(second.first_out_of_range());
}

TEST(OutOfRangeIds, UnknownRowOutsideTheTableIsRefusedAtLoad) {
  ModelParts parts = Tokens(5);
  parts.out_of_range = OutOfRangePolicy::kUnk;
  parts.unk_id = 5;
  EXPECT_THAT(Model::Create(std::move(parts)),
              StatusIs(kInvalid, HasSubstr("out_of_range: unk = 5 is outside [0, 5)")));
}

TEST(OutOfRangeIds, AreNoPaddingWhatTheyAreReadAs) {
  ModelParts parts = Tokens(5);
  parts.out_of_range = OutOfRangePolicy::kUnk;
  parts.unk_id = 1;
  parts.padding_idx = 1;
  parts.numbering = Numbering::kPadding;
  AddPositions({{0, 0}, {100, 0}, {200, 0}, {300, 0}, {400, 0}}, &parts);
  EXPECT_THAT(Embed(std::move(parts), Batch({9, 1})), ElementsAre(201, -1, 101, -1));
}

TEST(InputsEmbeds, TakeThePlaceOfScaledTokenRows) {
  ModelParts parts = Tokens(5);
  parts.token_scale = 2.0f;
  AddPositions({{100, 200}, {300, 400}}, &parts);
  EXPECT_THAT(Embed(std::move(parts), Given(ElementType::kFloat32, {1, 2, 3, 4}, {1, 2, 2})),
              ElementsAre(101, 202, 303, 404));
}

TEST(InputsEmbeds, OfEveryTypeAreWidened) {
  for (const ElementType type :
       {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16, ElementType::kFloat64}) {
    EXPECT_THAT(Embed(Tokens(5), Given(type, {1, 2, 3, 4}, {2, 1, 2})), ElementsAre(1, 2, 3, 4));
  }
}

TEST(InputsEmbeds, NumberAsThoughNothingWerePadding) {
  ModelParts parts = Tokens(5);
  parts.padding_idx = 1;
  parts.numbering = Numbering::kPadding;
  AddPositions({{0, 0}, {100, 0}, {200, 0}, {300, 0}}, &parts);
  EXPECT_THAT(Embed(std::move(parts), Given(ElementType::kFloat32, {1, 2, 3, 4}, {1, 2, 2})),
              ElementsAre(201, 2, 303, 4));
}

TEST(InputsEmbeds, OfRaggedRowsHaveTwoDimensions) {
  EmbedInput input = Given(ElementType::kFloat32, {1, 2, 3, 4, 5, 6}, {3, 2});
  input.batch_size = 0;
  input.row_lengths = {1, 2};
  EXPECT_THAT(Embed(Tokens(5), input), ElementsAre(1, 2, 0, 0, 3, 4, 5, 6));
}

TEST(InputsEmbeds, OfAnotherShapeOrSizeAreRefused) {
  EXPECT_THAT(Plan(Tokens(5), Given(ElementType::kFloat32, {1, 2, 3}, {1, 1, 3})),
              AllOf(StatusIs(kInvalid, HasSubstr("inputs_embeds has shape (1, 1, 3)")), ReasonIs("INVALID_SHAPE")));
  EmbedInput short_data = Given(ElementType::kFloat32, {1, 2}, {1, 1, 2});
  short_data.inputs_embeds->data.pop_back();
  EXPECT_THAT(Plan(Tokens(5), short_data), StatusIs(kInvalid, HasSubstr("inputs_embeds has 7 bytes")));
}

TEST(MaskedCells, BecomeZeroWhereTheModelSaysSo) {
  ModelParts parts = Tokens(5);
  parts.zero_masked = true;
  EmbedInput input = Batch({1, 2});
  input.attention_mask = {0, 1};
  ASSERT_OK_AND_ASSIGN(const EmbedPlan plan, Plan(std::move(parts), input));

  EXPECT_THAT(Compose(plan), ElementsAre(0, 0, 2, -2));
  EXPECT_THAT(plan.warnings(), IsEmpty());
}

TEST(MaskedCells, AreZeroOrOneEach) {
  EmbedInput input = Batch({1, 2});
  input.attention_mask = {0, 7};
  EXPECT_THAT(Plan(Tokens(5), input), StatusIs(kInvalid, HasSubstr("attention_mask[0][1] = 7 must be 0 or 1")));
}

TEST(MaskedCells, AreWarnedOfWhereTheyDoNothing) {
  EmbedInput input = Batch({1, 2});
  input.attention_mask = {0, 1};
  ASSERT_OK_AND_ASSIGN(const EmbedPlan plan, Plan(Tokens(5), input));
  EXPECT_THAT(plan.warnings(), ElementsAre(HasSubstr("attention_mask has no effect")));
}

ModelParts WithDropout(std::int64_t mask_id) {
  ModelParts parts = Tokens(5);
  parts.dropout_mask_id = mask_id;
  return parts;
}

// One of three tokens is <mask>: the others are multiplied by 0.88f and divided by 1 - 1/3, each in float32.
TEST(TokenDropout, ZeroesMaskTokensAndRescalesTheirRow) {
  const float kept = 1.0f - 1.0f / 3.0f;
  EXPECT_THAT(Embed(WithDropout(4), Batch({1, 4, 3})),
              ElementsAre(0.88f / kept, -0.88f / kept, 0, 0, 3 * 0.88f / kept, -3 * 0.88f / kept));
}

TEST(TokenDropout, CountsAmongUnmaskedCells) {
  EmbedInput input = Batch({1, 4, 3, 0});
  input.attention_mask = {1, 1, 0, 0};
  EXPECT_THAT(Embed(WithDropout(4), input),
              ElementsAre(0.88f / 0.5f, -0.88f / 0.5f, 0, 0, 3 * 0.88f / 0.5f, -3 * 0.88f / 0.5f, 0, 0));
}

TEST(TokenDropout, RowsDoNotMix) {
  const EmbedInput input = {.ids = {1, 4, 3}, .row_lengths = {2, 1}, .packed = true};
  EXPECT_THAT(Embed(WithDropout(4), input), ElementsAre(0.88f / 0.5f, -0.88f / 0.5f, 0, 0, 3 * 0.88f, -3 * 0.88f));
}

TEST(TokenDropout, LeavesTheTokenPartAndGivenVectorsAlone) {
  EmbedInput token = Batch({1, 4});
  token.part = Part::kToken;
  EXPECT_THAT(Embed(WithDropout(4), token), ElementsAre(1, -1, 4, -4));
  EXPECT_THAT(Embed(WithDropout(4), Given(ElementType::kFloat32, {1, 2}, {1, 1, 2})), ElementsAre(1, 2));
}

TEST(TokenDropout, GoesBeforePositionsAndLayerNorm) {
  ModelParts parts = WithDropout(4);
  AddPositions({{100, 200}}, &parts);
  EXPECT_THAT(Embed(std::move(parts), Batch({1})), ElementsAre(100.0f + 0.88f, 200.0f - 0.88f));
}

TEST(TokenDropout, MaskIdOutsideTheTableAndAScaleAreRefused) {
  EXPECT_THAT(Model::Create(WithDropout(5)), StatusIs(kInvalid, HasSubstr("dropout_mask_id = 5 is outside [0, 5)")));
  ModelParts scaled = WithDropout(4);
  scaled.token_scale = 2.0f;
  EXPECT_THAT(Model::Create(std::move(scaled)), StatusIs(kInvalid, HasSubstr("either a scale or dropout_mask_id")));
}

TEST(TrainedContextLength, IsWarnedOfBeyondIt) {
  const auto parts = [] {
    ModelParts model = Tokens(5);
    model.trained_context_length = 2;
    return model;
  };
  EXPECT_THAT(Plan(parts(), Batch({1, 2}))->warnings(), IsEmpty());
  EXPECT_THAT(Plan(parts(), Batch({1, 2, 3}))->warnings(),
              ElementsAre("the longest row has 3 positions, more than trained_context_length 2 of model \"m\""));
  EmbedInput late = Batch({1});
  late.position_offsets = {2};
  EXPECT_THAT(Plan(parts(), late)->warnings(), ElementsAre(HasSubstr("3 positions")));
}

ModelParts Growing(std::int64_t rows, std::int64_t end_row) {
  ModelParts parts{.name = "m", .token = ModelTable::Of(MakeTable({{0, 0, 0, 0}}), "test", true)};
  parts.position = ModelTable::Of(SinusoidalTable(rows, 4).value(), "test", false);
  parts.position_encoding = PositionEncoding::kSinusoidal;
  parts.sinusoidal = SinusoidalFormula{};
  parts.growth = GrowingRows::Create(rows, end_row, SinusoidalRows::Create(end_row, 4, {}).value()).value();
  return parts;
}

EmbedInput PositionsUpTo(std::int64_t length) {
  return {.part = Part::kPosition, .batch_size = 1, .sequence_length = length};
}

TEST(GrowingTable, GoesOnAsTheFormulaDoes) {
  EXPECT_EQ(Embed(Growing(3, 20), PositionsUpTo(20)), testing::FloatsOf(SinusoidalTable(20, 4).value()));
}

TEST(GrowingTable, ThatDoesNotGrowIsRefused) {
  EXPECT_THAT(GrowingRows::Create(3, 3, SinusoidalRows::Create(3, 4, {}).value()),
              StatusIs(kInvalid, HasSubstr("grow_to must be more than max_context_length 3, got 3")));
}

TEST(GrowingTable, EndsAtItsCap) {
  EXPECT_THAT(Plan(Growing(3, 20), PositionsUpTo(21)),
              AllOf(StatusIs(kInvalid, HasSubstr("sequence_length 21 exceeds max_context_length 20")),
                    ReasonIs("SEQUENCE_TOO_LONG")));
}

TEST(GrowingTable, FarRowIsThereWithoutThoseBeforeIt) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 24;
  EmbedInput input = PositionsUpTo(1);
  input.position_offsets = {kEnd - 1};
  std::vector<float> expected(4);
  SinusoidalRows::Create(kEnd, 4, {})->Compute(kEnd - 1, expected.data());

  ASSERT_OK_AND_ASSIGN(const EmbedPlan plan, Plan(Growing(3, kEnd), input));

  EXPECT_EQ(Compose(plan), expected);
  EXPECT_TRUE(plan.reads_growing_rows());
}

TEST(GrowingTable, GivesTheSameRowsToManyAtOnce) {
  const std::shared_ptr<const Model> model = Model::Create(Growing(1, 64)).value();
  const std::vector<float> expected = testing::FloatsOf(SinusoidalTable(64, 4).value());
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  for (std::size_t i = 0; i < results.size(); ++i) {
    threads.emplace_back([&model, &result = results[i], i] {
      const auto length = static_cast<std::int64_t>(16 * (i + 1));
      result = Compose(EmbedPlan::Create(model, PositionsUpTo(length), kLimits).value());
    });
  }
  for (std::thread& thread : threads) thread.join();

  for (const std::vector<float>& result : results) {
    EXPECT_EQ(result,
              std::vector<float>(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(result.size())));
  }
}

}  // namespace
}  // namespace embd::core
