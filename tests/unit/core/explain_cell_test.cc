#include "server/core/engine/explain_cell.h"

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/core/engine/embed_plan.h"
#include "server/core/position/sinusoidal.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::SmallTable;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::Pointwise;

constexpr EmbedLimits kLimits = {.max_batch_size = 8, .max_sequence_length = 64, .max_response_bytes = 1 << 20};
constexpr std::int64_t kVocab = 11;
constexpr std::int64_t kDim = 6;

ModelTable Random(std::int64_t rows, std::uint64_t seed, ElementType type = ElementType::kFloat32) {
  return ModelTable::Of(SmallTable(rows, kDim, type, seed), "test", true);
}

ModelParts Tokens() { return {.name = "m", .token = Random(kVocab, 1)}; }

ModelParts Learned() {
  ModelParts parts = Tokens();
  parts.position = Random(16, 2);
  parts.position_encoding = PositionEncoding::kLearned;
  return parts;
}

ModelParts Bert() {
  ModelParts parts = Learned();
  parts.token_types = TokenTypes{.table = Random(2, 3, ElementType::kFloat16)};
  parts.layer_norm = ModelLayerNorm{
      .parameters = {.weight = {1, 2, 3, 4, 5, 6}, .bias = {6, 5, 4, 3, 2, 1}, .eps = 1e-12}, .source = "test"};
  return parts;
}

EmbedInput Batch() { return {.batch_size = 2, .sequence_length = 3, .ids = {1, 10, 0, 4, 4, 9}}; }

// Kinds of models, and batches that they may be asked for.
struct Kind {
  std::string name;
  std::function<ModelParts()> parts;
  std::function<EmbedInput()> input;
};

std::vector<Kind> Kinds() {
  const auto with = [](auto base, auto change) {
    return [base, change] {
      auto value = base();
      change(value);
      return value;
    };
  };
  const auto masked = with(Batch, [](EmbedInput& input) { input.attention_mask = {0, 1, 1, 1, 1, 0}; });
  const auto ragged = [] {
    return EmbedInput{.ids = {1, 10, 0, 4, 4}, .attention_mask = {0, 1, 1, 1, 1}, .row_lengths = {2, 0, 3}};
  };
  const auto outside = with(Batch, [](EmbedInput& input) { input.ids[1] = 99, input.ids[5] = -7; });
  const auto typed = with(Batch, [](EmbedInput& input) { input.token_type_ids = {0, 1, 1, 0, 1, 0}; });
  return {
      {"tokens", Tokens, Batch},
      {"bfloat16 tokens",
       with(Tokens, [](ModelParts& parts) { parts.token = Random(kVocab, 1, ElementType::kBFloat16); }), Batch},
      {"learned, masked", Learned, masked},
      {"learned, ragged", Learned, ragged},
      {"learned, offset", Learned,
       with(Batch,
            [](EmbedInput& input) {
              input.position_offsets = {5, 7};
            })},
      {"learned, position_ids of all rows", Learned,
       with(Batch,
            [](EmbedInput& input) {
              input.position_ids = {3, 9, 1};
            })},
      {"learned, position_ids of each cell", Learned,
       with(Batch, [](EmbedInput& input) { input.position_ids = {3, 9, 1, 0, 2, 15}; })},
      {"sinusoidal",
       with(Tokens,
            [](ModelParts& parts) {
              parts.position = ModelTable::Of(SinusoidalTable(16, kDim).value(), "test", false);
              parts.position_encoding = PositionEncoding::kSinusoidal;
              parts.sinusoidal = SinusoidalFormula{};
            }),
       Batch},
      {"rotary",
       with(Tokens,
            [](ModelParts& parts) {
              parts.position_encoding = PositionEncoding::kRotary;
              parts.rotary = RotaryParameters{.head_dim = kDim};
            }),
       Batch},
      {"BERT", Bert, typed},
      {"BERT, position first", with(Bert, [](ModelParts& parts) { parts.position_before_type = true; }), typed},
      {"BERT, masked cells zero", with(Bert, [](ModelParts& parts) { parts.zero_masked = true; }), masked},
      {"RoBERTa",
       with(Bert,
            [](ModelParts& parts) {
              parts.numbering = Numbering::kPadding;
              parts.padding_idx = 4;
            }),
       Batch},
      {"OPT",
       with(Learned,
            [](ModelParts& parts) {
              parts.numbering = Numbering::kMask;
              parts.row_offset = 2;
            }),
       masked},
      {"scaled", with(Learned, [](ModelParts& parts) { parts.token_scale = 2.4494898f; }), Batch},
      {"GPT-2 with types",
       with(Learned, [](ModelParts& parts) { parts.token_types = TokenTypes{.only_when_sent = true}; }), typed},
      {"GPT-2 without types",
       with(Learned, [](ModelParts& parts) { parts.token_types = TokenTypes{.only_when_sent = true}; }), Batch},
      {"ids to zero", with(Learned, [](ModelParts& parts) { parts.out_of_range = OutOfRangePolicy::kZero; }), outside},
      {"ids to unk",
       with(Learned,
            [](ModelParts& parts) {
              parts.out_of_range = OutOfRangePolicy::kUnk;
              parts.unk_id = 3;
            }),
       outside},
      {"ESM", with(Learned, [](ModelParts& parts) { parts.dropout_mask_id = 10; }), masked}};
}

std::vector<float> Compose(const EmbedPlan& plan) {
  std::vector<float> out(plan.byte_size() / sizeof(float));
  plan.Compose(0, plan.row_count(), std::as_writable_bytes(std::span(out)));
  return out;
}

std::vector<float> Added(std::vector<float> sum, const std::optional<ExplainedRow>& row) {
  for (std::size_t i = 0; row.has_value() && i < sum.size(); ++i) sum[i] += row->values[i];
  return sum;
}

CellExplanation Explain(ModelParts parts, EmbedInput input, BatchShape::Place place = {0, 1}) {
  return ExplainCell(Model::Create(std::move(parts)).value(), std::move(input), kLimits, place).value();
}

TEST(ExplainCell, GivesEveryCellsEmbeddingBitForBitAndTheNumbersThatMakeIt) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    const auto model = Model::Create(kind.parts()).value();
    const std::vector<float> all = Compose(EmbedPlan::Create(model, kind.input(), kLimits).value());
    const auto shape = BatchShape::Create(kind.input()).value();
    for (std::int64_t b = 0; b < shape.batch_size(); ++b) {
      for (std::int64_t t = 0; t < shape.row_length(b); ++t) {
        SCOPED_TRACE(::testing::Message() << '(' << b << ", " << t << ')');

        ASSERT_OK_AND_ASSIGN(const CellExplanation cell, ExplainCell(model, kind.input(), kLimits, {b, t}));

        const auto row = all.begin() + (b * shape.sequence_length() + t) * kDim;
        EXPECT_EQ(cell.embedding, std::vector<float>(row, row + kDim));
        EXPECT_EQ(cell.id, kind.input().ids[static_cast<std::size_t>(shape.row_start(b) + t)]);
        const auto& first = model->position_before_type() ? cell.position : cell.token_type;
        const auto& second = model->position_before_type() ? cell.token_type : cell.position;
        EXPECT_EQ(cell.sum, Added(Added(cell.scaled_values, first), second));
        if (cell.zeroed) {
          EXPECT_THAT(cell.embedding, Each(0.0f));
        } else if (!model->layer_norm().has_value()) {
          EXPECT_EQ(cell.embedding, cell.sum);
        }
      }
    }
  }
}

TEST(ExplainCell, ShowsTheStoredRowsAndTheScaledOne) {
  ModelParts parts = Tokens();
  parts.token_scale = 3.0f;
  const CellExplanation cell = Explain(std::move(parts), Batch());

  const std::vector<float> table = testing::FloatsOf(SmallTable(kVocab, kDim, ElementType::kFloat32, 1));
  EXPECT_EQ(cell.token_row, 10);
  EXPECT_EQ(cell.token_values, std::vector<float>(table.begin() + 10 * kDim, table.begin() + 11 * kDim));
  EXPECT_EQ(cell.token_scale, 3.0);
  for (std::size_t i = 0; i < kDim; ++i) EXPECT_EQ(cell.scaled_values[i], 3.0f * cell.token_values[i]);
  EXPECT_FALSE(cell.token_type.has_value());
  EXPECT_FALSE(cell.position.has_value());
  EXPECT_FALSE(cell.layer_norm_mean.has_value());
}

TEST(ExplainCell, NamesRowsOfTypeAndPosition) {
  EmbedInput input = Batch();
  input.token_type_ids = {0, 1, 0, 0, 0, 0};
  input.position_offsets = {0, 6};

  const CellExplanation first = Explain(Bert(), input);
  EXPECT_EQ(first.token_type->row, 1);
  EXPECT_EQ(first.position->row, 1);
  EXPECT_EQ(Explain(Bert(), input, {1, 2}).position->row, 8);
}

TEST(ExplainCell, LayerNormFollowsFromItsMeanAndVariance) {
  const CellExplanation cell = Explain(Bert(), Batch());

  double mean = 0, variance = 0;
  for (const float x : cell.sum) mean += static_cast<double>(x) / kDim;
  for (const float x : cell.sum) variance += std::pow(static_cast<double>(x) - mean, 2) / kDim;
  EXPECT_NEAR(*cell.layer_norm_mean, mean, 1e-15);
  EXPECT_NEAR(*cell.layer_norm_variance, variance, 1e-15);
  std::vector<float> expected;
  for (std::size_t i = 0; i < kDim; ++i) {
    const double normal = (static_cast<double>(cell.sum[i]) - mean) / std::sqrt(variance + 1e-12);
    expected.push_back(static_cast<float>(normal * static_cast<double>(i + 1) + static_cast<double>(6 - i)));
  }
  EXPECT_THAT(cell.embedding, Pointwise(::testing::FloatNear(1e-6f), expected));
}

TEST(ExplainCell, SaysWhatStandsForAnIdOutsideTheTable) {
  ModelParts zero = Tokens();
  zero.out_of_range = OutOfRangePolicy::kZero;
  ModelParts unk = Tokens();
  unk.out_of_range = OutOfRangePolicy::kUnk;
  unk.unk_id = 3;
  EmbedInput input = Batch();
  input.ids[1] = 99;

  const CellExplanation none = Explain(std::move(zero), input);
  EXPECT_EQ(none.id, 99);
  EXPECT_EQ(none.token_row, std::nullopt);
  EXPECT_THAT(none.token_values, Each(0.0f));
  EXPECT_EQ(Explain(std::move(unk), input).token_row, 3);
}

TEST(ExplainCell, DoesNotCountIdsOutOfRange) {
  ModelParts parts = Tokens();
  parts.out_of_range = OutOfRangePolicy::kZero;
  const auto model = Model::Create(std::move(parts)).value();
  EmbedInput input = Batch();
  input.ids[1] = 99;

  ASSERT_THAT(ExplainCell(model, input, kLimits, {0, 1}), testing::IsOk());

  EXPECT_EQ(model->out_of_range_ids(), 0);
}

// ESM: one of two cells is <mask>, so the other is multiplied by 0.88 and divided by a half.
TEST(ExplainCell, TellsTheFactorOfTokenDropout) {
  ModelParts parts = Tokens();
  parts.dropout_mask_id = 4;
  const EmbedInput input = {.batch_size = 1, .sequence_length = 2, .ids = {7, 4}};

  const auto model = Model::Create(std::move(parts)).value();
  ASSERT_OK_AND_ASSIGN(const CellExplanation kept, ExplainCell(model, input, kLimits, {0, 0}));
  ASSERT_OK_AND_ASSIGN(const CellExplanation dropped, ExplainCell(model, input, kLimits, {0, 1}));

  EXPECT_NEAR(kept.token_scale, 1.76, 1e-6);
  EXPECT_FLOAT_EQ(kept.scaled_values[0], kept.token_values[0] * 1.76f);
  EXPECT_EQ(dropped.token_row, std::nullopt);
}

TEST(ExplainCell, RefusesACellThatTheBatchHasNot) {
  const auto refusal = [](BatchShape::Place place, EmbedInput input) {
    const auto result = ExplainCell(Model::Create(Tokens()).value(), std::move(input), kLimits, place);
    EXPECT_THAT(result, AllOf(StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_), ReasonIs("INVALID_OPTION")));
    return std::string(result.status().message());
  };
  const EmbedInput ragged = {.ids = {1, 2, 3}, .row_lengths = {2, 1}};

  EXPECT_EQ(refusal({2, 0}, Batch()), "batch_index = 2 is outside [0, 2)");
  EXPECT_EQ(refusal({-1, 0}, Batch()), "batch_index = -1 is outside [0, 2)");
  EXPECT_EQ(refusal({0, 3}, Batch()), "sequence_index = 3 is outside [0, 3) of row 0");
  EXPECT_EQ(refusal({1, 1}, ragged), "sequence_index = 1 is outside [0, 1) of row 1");
}

TEST(ExplainCell, RefusesWhatEmbedRefuses) {
  EmbedInput input = Batch();
  input.ids[5] = 11;

  EXPECT_THAT(ExplainCell(Model::Create(Tokens()).value(), input, kLimits, {0, 0}),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, ::testing::HasSubstr("ids[1][2] = 11")),
                    ReasonIs("ID_OUT_OF_RANGE")));
}

}  // namespace
}  // namespace embd::core
