#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/architectures/model_folder.h"
#include "tests/unit/architectures/summary.h"

namespace embd::architectures {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

ModelFolder Gpt2() {
  return ModelFolder(R"({"model_type":"gpt2","vocab_size":10,"n_embd":8,"n_positions":6})",
                     {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}, {"other", {9, 8}}, {"types", {3, 8}}});
}

ModelFolder Bert() {
  return ModelFolder(R"({"model_type":"bert"})", {{"embeddings.word_embeddings.weight", {10, 8}},
                                                  {"embeddings.position_embeddings.weight", {6, 8}},
                                                  {"embeddings.token_type_embeddings.weight", {2, 8}},
                                                  {"embeddings.LayerNorm.weight", {8}},
                                                  {"embeddings.LayerNorm.bias", {8}},
                                                  {"scale", {8}}});
}

ModelFolder Llama() {
  return ModelFolder(R"({"model_type":"llama","num_attention_heads":4,"rope_scaling":{"type":"linear","factor":2}})",
                     {{"model.embed_tokens.weight", {10, 64}}});
}

// Says that no value of `key` was inferred, nor of a key below it.
auto HasNothingOf(const std::string& key) { return Not(Contains(Field(&InferredValue::key, StartsWith(key)))); }

std::string SummaryOf(const absl::StatusOr<InferredModel>& inferred) {
  return inferred.ok() ? Summary(inferred->model) : std::string(inferred.status().message());
}

TEST(GivenValues, NameAndVersionAndPolicyAreKept) {
  const config::OutOfRange zero{.policy = config::OutOfRange::Policy::kZero};

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, Gpt2().Infer({.version = "7", .out_of_range = zero}));

  EXPECT_EQ(inferred.model.name, "m");
  EXPECT_EQ(inferred.model.version, "7");
  EXPECT_EQ(inferred.model.out_of_range, zero);
}

// The rows that config.json tells are not those of the tensor, which is what naming it is for.
TEST(GivenValues, ATokenTensorIsTakenAsItIs) {
  ASSERT_OK_AND_ASSIGN(const InferredModel inferred,
                       Gpt2().Infer({.token = config::TableFile{.tensor = "other", .vocabulary = "words.txt"}}));

  const auto& token = std::get<config::TableFile>(inferred.model.token);
  EXPECT_EQ(token.tensor, "other");
  EXPECT_THAT(token.path, HasSubstr("model.safetensors"));
  EXPECT_EQ(token.vocabulary, "words.txt");
  EXPECT_THAT(inferred.inferred_from, HasNothingOf("token.tensor"));
}

TEST(GivenValues, ATokenTensorThatIsNotThereIsRefused) {
  EXPECT_THAT(Gpt2().Infer({.token = config::TableFile{.tensor = "nope"}}),
              StatusIs(kInvalid, AllOf(HasSubstr("no tensor \"nope\""), HasSubstr("\"wte.weight\""))));
}

TEST(GivenValues, ATokenScaleIsNotInferred) {
  const ModelFolder folder(R"({"model_type":"gemma","head_dim":16})", {{"model.embed_tokens.weight", {10, 64}}});

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer({.token_scale = config::TokenScale{.factor = 3}}));

  EXPECT_EQ(inferred.model.token_scale, config::TokenScale{.factor = 3});
  EXPECT_THAT(inferred.inferred_from, HasNothingOf("token.scale"));
}

TEST(GivenValues, APositionOfAnotherKindTakesThePlaceOfTheFolders) {
  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, Gpt2().Infer({.position = config::NoPositions{}}));

  EXPECT_EQ(Summary(inferred.model), "wte.weight + none + types shared when sent, position first");
  EXPECT_THAT(inferred.inferred_from, HasNothingOf("position"));
}

TEST(GivenValues, AGivenPositionNeedsNoTableInTheFolder) {
  const ModelFolder folder(R"({"model_type":"gpt2"})", {{"wte.weight", {10, 8}}});

  EXPECT_EQ(SummaryOf(folder.Infer({.position = config::RotaryPositions{}})),
            "wte.weight + rotary 0/0 theta 0 half + types shared when sent, position first");
}

TEST(GivenValues, APositionTensorOfTheFolderMayBeNamed) {
  ASSERT_OK_AND_ASSIGN(const InferredModel inferred,
                       Gpt2().Infer({.position = config::LearnedPositions{config::TableFile{.tensor = "other"}}}));

  const auto& learned = std::get<config::LearnedPositions>(*inferred.model.position);
  EXPECT_EQ(std::get<config::TableFile>(learned.source).tensor, "other");
  EXPECT_THAT(std::get<config::TableFile>(learned.source).path, HasSubstr("model.safetensors"));
  EXPECT_THAT(inferred.inferred_from, HasNothingOf("position.learned.tensor"));
}

TEST(GivenValues, APositionTensorMayBeNamedWhereTheFamilyHasNone) {
  const ModelFolder folder(R"({"model_type":"t5"})", {{"shared.weight", {10, 8}}, {"rows", {6, 8}}});

  EXPECT_EQ(SummaryOf(folder.Infer({.position = config::LearnedPositions{config::TableFile{.tensor = "rows"}}})),
            "shared.weight + learned rows");
}

TEST(GivenValues, LearnedPositionsWithoutATensorAreRefusedWhereTheFamilyHasNone) {
  const ModelFolder folder(R"({"model_type":"t5"})", {{"shared.weight", {10, 8}}});

  EXPECT_THAT(folder.Infer({.position = config::LearnedPositions{config::TableFile{}}}),
              StatusIs(kInvalid, HasSubstr("position.learned: file or tensor is missing, which model_type t5 does not "
                                           "tell")));
}

TEST(GivenValues, SinusoidalFieldsAreMergedOneByOne) {
  const ModelFolder folder(R"({"model_type":"marian","pad_token_id":9,"max_position_embeddings":6})",
                           {{"model.shared.weight", {10, 8}}});

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred,
                       folder.Infer({.position = config::SinusoidalPositions{.base = 500.0, .grow_to = 12}}));

  EXPECT_EQ(Summary(inferred.model), "model.shared.weight + sinusoidal half base 500 6 to 12[fixed]; pad 9; trained 6");
  EXPECT_THAT(inferred.inferred_from, AllOf(HasNothingOf("position.sinusoidal.base"),
                                            Contains(Field(&InferredValue::key, "position.sinusoidal.layout"))));
}

TEST(GivenValues, RotaryFieldsAreMergedOneByOne) {
  config::RotaryPositions given;
  given.theta = 7.0;

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, Llama().Infer({.position = given}));

  EXPECT_EQ(Summary(std::get<config::RotaryPositions>(*inferred.model.position)),
            "rotary 16/16 theta 7 half linear( factor 2 )");
  EXPECT_THAT(inferred.inferred_from, AllOf(HasNothingOf("position.rotary.theta"),
                                            Contains(Field(&InferredValue::key, "position.rotary.head_dim"))));
}

TEST(GivenValues, AGivenScalingTakesThePlaceOfOneThatIsNotServed) {
  const ModelFolder folder(R"({"model_type":"llama","num_attention_heads":4,"rope_scaling":{"type":"mrope"}})",
                           {{"model.embed_tokens.weight", {10, 64}}});
  config::RotaryPositions given;
  given.scaling = config::RotaryScalingConfig{.type = "ntk", .factor = 2};

  EXPECT_EQ(SummaryOf(folder.Infer({.position = given})),
            "model.embed_tokens.weight + rotary 16/16 theta 10000 half ntk( factor 2 ); trained 2048");
}

TEST(GivenValues, LayerTypesAreMergedByName) {
  const ModelFolder folder(R"({"model_type":"gemma3_text","head_dim":16})", {{"model.embed_tokens.weight", {10, 64}}});
  config::RotaryPositions given;
  given.layer_types["sliding_attention"].theta = 5.0;

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer({.position = given}));

  EXPECT_EQ(
      Summary(std::get<config::RotaryPositions>(*inferred.model.position)),
      "rotary 16/16 theta 1e+06 half, full_attention 16/16 theta 1e+06 half, sliding_attention 16/16 theta 5 half");
}

TEST(GivenValues, NumberingPaddingOrderAndTheRestAreKept) {
  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, Bert().Infer({.numbering = config::Numbering::kPadding,
                                                                   .row_offset = 1,
                                                                   .padding_idx = 3,
                                                                   .sum_order = config::SumOrder::kPositionFirst,
                                                                   .zero_masked = true,
                                                                   .saturate = true,
                                                                   .trained_context_length = 4}));

  EXPECT_EQ(Summary(inferred.model),
            "embeddings.word_embeddings.weight + learned embeddings.position_embeddings.weight[padding+1] + types "
            "embeddings.token_type_embeddings.weight, position first -> norm embeddings.LayerNorm.weight, "
            "embeddings.LayerNorm.bias eps 1e-12, masked 0; pad 3; trained 4");
  EXPECT_EQ(inferred.model.saturate, true);
  EXPECT_THAT(inferred.inferred_from, AllOf(HasNothingOf("position.numbering"), HasNothingOf("position.row_offset"),
                                            HasNothingOf("padding_idx"), HasNothingOf("sum_order"),
                                            HasNothingOf("zero_masked"), HasNothingOf("trained_context_length")));
}

TEST(GivenValues, TypesAndLayerNormMayBeSaidToBeAbsent) {
  ASSERT_OK_AND_ASSIGN(const InferredModel inferred,
                       Bert().Infer({.token_types = config::Absent{}, .layer_norm = config::Absent{}}));

  EXPECT_EQ(Summary(inferred.model),
            "embeddings.word_embeddings.weight + learned embeddings.position_embeddings.weight[fixed] + no types, type "
            "first -> no norm; pad 0; trained 6");
  EXPECT_THAT(inferred.inferred_from, AllOf(HasNothingOf("token_type"), HasNothingOf("layer_norm")));
}

TEST(GivenValues, EpsAloneLeavesWeightAndBiasToTheFolder) {
  EXPECT_THAT(SummaryOf(Bert().Infer({.layer_norm = config::LayerNorm{.eps = 0.25}})),
              HasSubstr("norm embeddings.LayerNorm.weight, embeddings.LayerNorm.bias eps 0.25"));
}

TEST(GivenValues, AWeightAloneMeansNoBias) {
  EXPECT_THAT(
      SummaryOf(Bert().Infer({.layer_norm = config::LayerNorm{.weight = config::TableFile{.tensor = "scale"}}})),
      HasSubstr("norm scale eps 1e-12"));
}

TEST(GivenValues, EpsAloneIsRefusedWhereThereIsNoLayerNorm) {
  EXPECT_THAT(Gpt2().Infer({.layer_norm = config::LayerNorm{.eps = 0.25}}),
              StatusIs(kInvalid, HasSubstr("layer_norm.weight is missing: model_type gpt2 has no LayerNorm here")));
}

TEST(GivenValues, WhenTypesAreAddedMayBeSaidAlone) {
  EXPECT_THAT(SummaryOf(Bert().Infer({.token_types = config::TokenTypes{.only_when_sent = true}})),
              HasSubstr("types embeddings.token_type_embeddings.weight when sent"));
  EXPECT_THAT(SummaryOf(Gpt2().Infer({.token_types = config::TokenTypes{.only_when_sent = false}})),
              HasSubstr("types shared, position first"));
}

TEST(GivenValues, ATypeTensorOfTheFolderMayBeNamed) {
  EXPECT_THAT(
      SummaryOf(Gpt2().Infer({.token_types = config::TokenTypes{.source = config::TableFile{.tensor = "types"}}})),
      HasSubstr("types types, position first"));
}

TEST(GivenValues, ASideIsRefusedWhereThereIsNone) {
  EXPECT_THAT(Gpt2().Infer({.side = config::Side::kEncoder}),
              StatusIs(kInvalid, HasSubstr("side: model_type gpt2 has no encoder and decoder to choose from")));
}

TEST(GivenValues, ASideThatChangesNothingIsAcceptedWhereThereAreTwo) {
  const ModelFolder folder(R"({"model_type":"t5"})", {{"shared.weight", {10, 8}}});

  EXPECT_THAT(folder.Infer({.side = config::Side::kDecoder}), IsOk());
}

}  // namespace
}  // namespace embd::architectures
