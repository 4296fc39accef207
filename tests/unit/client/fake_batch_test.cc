#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "embd/client/client.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::client {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Token row i is i, position row p is 10 p, type row s is 100 s.
class FakeBatch : public ::testing::Test {
 protected:
  FakeBatch() { fake_->AddModel(Model()); }

  static FakeModel Model() {
    return {
        .name = "m", .embedding_dim = 1, .token = {0, 1, 2, 3}, .position = {0, 10, 20, 30}, .token_type = {0, 100}};
  }

  std::vector<float> Values(const EmbedRequest& request) const {
    const auto embedding = client_.Embed(request);
    EXPECT_THAT(embedding, embd::testing::IsOk());
    if (!embedding.ok()) return {};
    const auto values = *embedding->As<float>();
    return {values.begin(), values.end()};
  }

  // Position rows of one row of ids, by a model of that numbering.
  std::vector<float> Positions(PositionNumbering numbering, std::int64_t row_offset, EmbedRequest request) {
    FakeModel model = Model();
    model.position = {0, 1, 2, 3, 4, 5, 6, 7};
    model.numbering = numbering;
    model.row_offset = row_offset;
    model.padding_idx = 1;
    fake_->AddModel(model);
    request.model = "m";
    request.part = Part::kPosition;
    request.batch_size = 1;
    return Values(request);
  }

  static EmbedRequest Ragged() { return {.model = "m", .ids = {1, 2, 3, 1, 2}, .row_lengths = {2, 0, 3}}; }

  std::shared_ptr<FakeTransport> fake_ = std::make_shared<FakeTransport>();
  Client client_ = Client(fake_);
};

TEST_F(FakeBatch, ScalesTokensAndAddsTypesAndPositions) {
  FakeModel model = Model();
  model.token_scale = 0.5F;
  fake_->AddModel(model);
  EmbedRequest request = {.model = "m", .ids = {1, 2}, .batch_size = 1, .sequence_length = 2, .token_type_ids = {1, 0}};

  EXPECT_THAT(Values(request), ElementsAre(100.5, 11));
  request.part = Part::kToken;
  EXPECT_THAT(Values(request), ElementsAre(0.5, 1));
}

TEST_F(FakeBatch, NormalizesTheSum) {
  fake_->AddModel({.name = "bert",
                   .embedding_dim = 2,
                   .token = {1, 3},
                   .layer_norm_weight = {10, 1},
                   .layer_norm_bias = {0, 5},
                   .layer_norm_eps = 0});
  EmbedRequest request = {.model = "bert", .ids = {0}, .batch_size = 1, .sequence_length = 1};

  EXPECT_THAT(Values(request), ElementsAre(FloatEq(-10), FloatEq(6)));
  request.part = Part::kToken;
  EXPECT_THAT(Values(request), ElementsAre(1, 3));
}

TEST_F(FakeBatch, PadsRaggedRowsWithZerosOnTheSideAskedFor) {
  EmbedRequest request = Ragged();

  ASSERT_OK_AND_ASSIGN(const Embedding right, client_.Embed(request));
  request.padding_side = PaddingSide::kLeft;
  request.sequence_length = 4;
  ASSERT_OK_AND_ASSIGN(const Embedding left, client_.Embed(request));

  EXPECT_THAT(right.shape(), ElementsAre(3, 3, 1));
  EXPECT_THAT(right.info().row_lengths, ElementsAre(2, 0, 3));
  EXPECT_THAT(*right.As<float>(), ElementsAre(1, 12, 0, 0, 0, 0, 3, 11, 22));
  EXPECT_THAT(left.shape(), ElementsAre(3, 4, 1));
  EXPECT_THAT(*left.As<float>(), ElementsAre(0, 0, 1, 12, 0, 0, 0, 0, 0, 3, 11, 22));
}

TEST_F(FakeBatch, PacksRaggedRows) {
  EmbedRequest request = Ragged();
  request.ragged_layout = RaggedLayout::kPacked;

  ASSERT_OK_AND_ASSIGN(const Embedding packed, client_.Embed(request));

  EXPECT_THAT(packed.shape(), ElementsAre(5, 1));
  EXPECT_THAT(*packed.As<float>(), ElementsAre(1, 12, 3, 11, 22));
}

TEST_F(FakeBatch, RefusesLengthsThatFitNothing) {
  EmbedRequest sum = Ragged();
  sum.ids.pop_back();
  EmbedRequest negative = Ragged();
  negative.row_lengths[1] = -1;
  EmbedRequest huge = Ragged();
  huge.row_lengths = {std::numeric_limits<std::int64_t>::max(), 1};
  EmbedRequest rows = Ragged();
  rows.batch_size = 2;
  EmbedRequest tokens = Ragged();
  tokens.sequence_length = 2;

  EXPECT_THAT(client_.Embed(sum),
              AllOf(StatusIs(kInvalid, "row_lengths has 3 values summing to 5, but ids has 4 values"),
                    ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(client_.Embed(negative), StatusIs(kInvalid, "row_lengths[1] = -1 must be >= 0"));
  EXPECT_THAT(client_.Embed(huge), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(rows), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(tokens), ReasonIs("INVALID_SHAPE"));
}

TEST_F(FakeBatch, RefusesRaggedOptionsThatMeanNothing) {
  const EmbedRequest even = {.model = "m", .ids = {1}, .batch_size = 1, .sequence_length = 1};
  EmbedRequest layout = even;
  layout.ragged_layout = RaggedLayout::kPacked;
  EmbedRequest side = even;
  side.padding_side = PaddingSide::kLeft;
  EmbedRequest both = Ragged();
  both.ragged_layout = RaggedLayout::kPacked;
  both.padding_side = PaddingSide::kLeft;
  EmbedRequest unknown = even;
  unknown.ragged_layout = static_cast<RaggedLayout>(3);

  EXPECT_THAT(client_.Embed(layout), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.Embed(side), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.Embed(both), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.Embed(unknown), ReasonIs("UNKNOWN_ENUM_VALUE"));
}

TEST_F(FakeBatch, RefusesTypesAndMasksOutsideTheirRange) {
  EmbedRequest type = {.model = "m", .ids = {1, 1}, .batch_size = 1, .sequence_length = 2, .token_type_ids = {0, 5}};
  EmbedRequest mask = {.model = "m", .ids = {1, 1}, .batch_size = 1, .sequence_length = 2, .attention_mask = {1, 7}};
  EmbedRequest count = {.model = "m", .ids = {1, 1}, .batch_size = 1, .sequence_length = 2, .attention_mask = {1}};
  EmbedRequest ragged = Ragged();
  ragged.token_type_ids = {0, 0, 0, 5, 0};

  EXPECT_THAT(client_.Embed(type),
              AllOf(StatusIs(kInvalid, "token_type_ids[0][1] = 5 is outside [0, 2) of model \"m\""),
                    ReasonIs("TOKEN_TYPE_OUT_OF_RANGE")));
  EXPECT_THAT(client_.Embed(mask), StatusIs(kInvalid, "attention_mask[0][1] = 7 must be 0 or 1"));
  EXPECT_THAT(client_.Embed(count), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(ragged), StatusIs(kInvalid, HasSubstr("token_type_ids[2][1] = 5")));
}

TEST_F(FakeBatch, RefusesTypesOfAModelWithout) {
  fake_->AddModel({.name = "bare", .embedding_dim = 1, .token = {7}});

  EXPECT_THAT(
      client_.Embed({.model = "bare", .ids = {0}, .batch_size = 1, .sequence_length = 1, .token_type_ids = {0}}),
      ReasonIs("NO_TOKEN_TYPES"));
}

TEST_F(FakeBatch, TakesVectorsInPlaceOfTokens) {
  const std::vector<float> vectors = {0.5, 0.25};
  EmbedRequest request = {.model = "m", .inputs_embeds = InputTensor::FromFloats(vectors, {1, 2, 1})};

  EXPECT_THAT(Values(request), ElementsAre(0.5, 10.25));
  request.part = Part::kToken;
  EXPECT_THAT(Values(request), ElementsAre(0.5, 0.25));
  request.row_lengths = {1, 1};
  request.inputs_embeds->shape = {2, 1};
  request.part = Part::kComposed;
  EXPECT_THAT(Values(request), ElementsAre(0.5, 0.25));
}

TEST_F(FakeBatch, WidensVectorsOfEveryFloatType) {
  const auto embed = [this](DataType type, std::vector<std::uint8_t> bytes) {
    InputTensor tensor = {.data_type = type, .shape = {1, 1, 1}};
    for (const std::uint8_t byte : bytes) tensor.bytes.push_back(std::byte{byte});
    return Values({.model = "m", .part = Part::kToken, .inputs_embeds = std::move(tensor)});
  };

  EXPECT_THAT(embed(DataType::kFloat16, {0x01, 0xC0}), ElementsAre(-2 - 0x1p-9F));
  EXPECT_THAT(embed(DataType::kFloat16, {0x01, 0x00}), ElementsAre(0x1p-24F));
  EXPECT_THAT(embed(DataType::kFloat16, {0x00, 0x7C}), ElementsAre(std::numeric_limits<float>::infinity()));
  EXPECT_THAT(embed(DataType::kBfloat16, {0x80, 0xBF}), ElementsAre(-1));
  EXPECT_THAT(embed(DataType::kFloat64, {0, 0, 0, 0, 0, 0, 0xE0, 0x3F}), ElementsAre(0.5));
}

TEST_F(FakeBatch, RefusesVectorsThatDoNotFit) {
  const std::vector<float> vectors = {0.5, 0.25};
  const EmbedRequest good = {.model = "m", .inputs_embeds = InputTensor::FromFloats(vectors, {1, 2, 1})};
  EmbedRequest both = good;
  both.ids = {1, 2};
  EmbedRequest wide = good;
  wide.inputs_embeds->shape = {1, 1, 2};
  EmbedRequest flat = good;
  flat.inputs_embeds->shape = {2, 1};
  EmbedRequest tokens = good;
  tokens.sequence_length = 3;
  EmbedRequest bytes = good;
  bytes.inputs_embeds->bytes.pop_back();
  EmbedRequest type = good;
  type.inputs_embeds->data_type = DataType::kInt32;

  EXPECT_THAT(client_.Embed(both), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(client_.Embed(wide), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(flat), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(tokens), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(bytes), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(client_.Embed(type), ReasonIs("INVALID_OPTION"));
}

TEST_F(FakeBatch, NumbersCellsAsTheModelDoes) {
  const EmbedRequest masked = {.ids = {1, 1, 2, 3}, .sequence_length = 4, .attention_mask = {0, 0, 1, 1}};
  const EmbedRequest padded = {.ids = {2, 3, 1, 1}, .sequence_length = 4};

  EXPECT_THAT(Positions(PositionNumbering::kSequential, 0, masked), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(Positions(PositionNumbering::kSequential, 0, padded), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Positions(PositionNumbering::kFixed, 2, masked), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(Positions(PositionNumbering::kPadding, 0, padded), ElementsAre(2, 3, 1, 1));
  EXPECT_THAT(Positions(PositionNumbering::kPadding, 0, {.sequence_length = 3}), ElementsAre(2, 3, 4));
  EXPECT_THAT(Positions(PositionNumbering::kMask, 2, masked), ElementsAre(1, 1, 2, 3));
}

TEST_F(FakeBatch, AddsOffsetsToWhatItCounts) {
  EXPECT_THAT(Positions(PositionNumbering::kMask, 2,
                        {.ids = {0, 0, 0}, .sequence_length = 3, .position_offsets = {3}, .attention_mask = {0, 1, 1}}),
              ElementsAre(1, 5, 6));
  EXPECT_THAT(
      Positions(PositionNumbering::kPadding, 0, {.ids = {0, 1, 0}, .sequence_length = 3, .position_offsets = {3}}),
      ElementsAre(5, 1, 6));
}

TEST_F(FakeBatch, AddsTheRowOffsetAloneToPositionsThatAreSent) {
  EXPECT_THAT(Positions(PositionNumbering::kMask, 2,
                        {.ids = {0, 0}, .sequence_length = 2, .position_ids = {5, 0}, .attention_mask = {0, 1}}),
              ElementsAre(7, 2));
}

TEST_F(FakeBatch, CountsPositionsNotCellsAgainstTheTable) {
  FakeModel model = Model();
  model.numbering = PositionNumbering::kPadding;
  model.padding_idx = 1;
  fake_->AddModel(model);
  ASSERT_OK_AND_ASSIGN(const ModelDescription described, client_.DescribeModel({.model = "m"}));

  EXPECT_EQ(described.max_context_length, 2);
  EXPECT_THAT(Values({.model = "m", .ids = {2, 1, 1, 1, 2}, .batch_size = 1, .sequence_length = 5}), SizeIs(5));
  EXPECT_THAT(
      client_.Embed({.model = "m", .ids = {2, 1, 2, 2}, .batch_size = 1, .sequence_length = 4}),
      AllOf(StatusIs(kInvalid, "3 ids that are no padding in row 0 exceeds max_context_length 2 of model \"m\""),
            ReasonIs("SEQUENCE_TOO_LONG")));
}

TEST_F(FakeBatch, WarnsOfAMaskWithoutEffect) {
  EmbedRequest request = {.model = "m", .ids = {1}, .batch_size = 1, .sequence_length = 1, .attention_mask = {1}};
  ASSERT_OK_AND_ASSIGN(const Embedding used, client_.Embed(request));
  request.position_ids = {0};
  ASSERT_OK_AND_ASSIGN(const Embedding unused, client_.Embed(request));

  EXPECT_THAT(used.info().warnings, IsEmpty());
  EXPECT_THAT(unused.info().warnings, SizeIs(1));
}

TEST_F(FakeBatch, PassesOverRowsThatCountNothing) {
  EmbedRequest request = {.model = "m", .ids = {1}, .position_offsets = {9, 0}, .row_lengths = {0, 1}};

  EXPECT_THAT(Values(request), ElementsAre(0, 1));
}

TEST_F(FakeBatch, ComparesNeighboursOfTokenTypes) {
  ASSERT_OK_AND_ASSIGN(const NeighbourCurve curve,
                       client_.NeighbourSimilarity({.model = "m", .table = TableKind::kTokenType}));

  EXPECT_EQ(curve.table, TableKind::kTokenType);
  EXPECT_EQ(curve.rows, 2);
  EXPECT_EQ(curve.zero_rows, 1);
}

TEST_F(FakeBatch, DescribesItsInputStage) {
  FakeModel model = Model();
  model.token_scale = 2;
  model.layer_norm_weight = {1};
  model.layer_norm_bias = {0};
  model.numbering = PositionNumbering::kMask;
  model.row_offset = 2;
  fake_->AddModel(model);

  ASSERT_OK_AND_ASSIGN(const ModelDescription described, client_.DescribeModel({.model = "m"}));

  EXPECT_EQ(described.token_scale, 2);
  EXPECT_EQ(described.numbering, PositionNumbering::kMask);
  EXPECT_EQ(described.row_offset, 2);
  EXPECT_EQ(described.max_context_length, 2);
  EXPECT_TRUE(described.has_token_types);
  EXPECT_EQ(described.layer_norm_eps, 1e-5);
  ASSERT_THAT(described.tables, SizeIs(3));
  EXPECT_EQ(described.tables[2].kind, TableKind::kTokenType);
}

}  // namespace
}  // namespace embd::client
