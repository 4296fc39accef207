#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/architectures/model_folder.h"
#include "tests/unit/architectures/summary.h"

namespace embd::architectures {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

const std::vector<TestTensor> kGptTensors = {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}};

TEST(Refusals, AnUnknownModelTypeComesWithYamlToPaste) {
  const auto inferred = ModelFolder(R"({"model_type":"whisper"})", kGptTensors).Infer();

  EXPECT_THAT(
      inferred,
      AllOf(StatusIs(kUnimplemented,
                     AllOf(HasSubstr("model_type \"whisper\" is not known; spell out token, position and scale"),
                           HasSubstr("- { name: m, token: { file: "), HasSubstr("tensor: …, scale: 1 }"),
                           HasSubstr("position: { learned: { file: "), HasSubstr("\"wpe.weight\""))),
            ReasonIs("UNSUPPORTED_ARCHITECTURE")));
}

TEST(Refusals, AMissingModelTypeIsNamed) {
  EXPECT_THAT(ModelFolder("{}", kGptTensors).Infer(),
              StatusIs(kInvalid, HasSubstr("config.json: model_type is missing")));
}

TEST(Refusals, AVocabularyLargerThanTheTableIsRefusedWithBothNumbers) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"gpt2","vocab_size":12})", kGptTensors).Infer(),
              AllOf(StatusIs(kInvalid, HasSubstr("config.json: vocab_size = 12, but token table \"wte.weight\" has 10 "
                                                 "rows; to take the tensor as it is, name it as token.tensor")),
                    ReasonIs("INVALID_FILE")));
}

TEST(Refusals, AVocabularySmallerThanTheTableIsRefused) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"gpt2","vocab_size":9})", kGptTensors).Infer(),
              StatusIs(kInvalid, AllOf(HasSubstr("vocab_size = 9"), HasSubstr("has 10 rows"))));
}

TEST(Refusals, AWidthThatIsNotTheTensorsIsRefused) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"gpt2","n_embd":16})", kGptTensors).Infer(),
              StatusIs(kInvalid, AllOf(HasSubstr("config.json: n_embd = 16"), HasSubstr("has 8 columns"))));
}

TEST(Refusals, ALengthThatIsNotThePositionTablesIsRefused) {
  EXPECT_THAT(
      ModelFolder(R"({"model_type":"gpt2","n_positions":7})", kGptTensors).Infer(),
      StatusIs(kInvalid, HasSubstr("config.json: n_positions = 7, but position table \"wpe.weight\" has 6 rows")));
  EXPECT_THAT(ModelFolder(R"({"model_type":"opt","max_position_embeddings":6})",
                          {{"decoder.embed_tokens.weight", {10, 8}}, {"decoder.embed_positions.weight", {6, 8}}})
                  .Infer(),
              StatusIs(kInvalid, HasSubstr("max_position_embeddings = 6 and 2 more, but position table")));
}

TEST(Refusals, APositionTableOfAnotherWidthIsRefused) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"gpt2"})", {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 4}}}).Infer(),
              StatusIs(kInvalid, HasSubstr("token rows have 8 columns, but position table \"wpe.weight\" has 4")));
}

TEST(Refusals, ATableOfOneDimensionIsRefused) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"gpt2"})", {{"wte.weight", {10}}, {"wpe.weight", {6, 8}}}).Infer(),
              StatusIs(kInvalid, HasSubstr("token table \"wte.weight\" has shape [10]; 2 dimensions are needed")));
}

TEST(Refusals, AMissingTokenTableListsWhatWasTriedAndWhatThereIs) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"gpt2"})", {{"embed", {10, 8}}}).Infer(),
              AllOf(StatusIs(kInvalid, AllOf(HasSubstr("has no token table: tried \"wte.weight\", "
                                                       "\"transformer.wte.weight\", \"lm_head.weight\""),
                                             HasSubstr("there are \"embed\""),
                                             HasSubstr("name the one that is meant as token.tensor"))),
                    ReasonIs("TENSOR_NOT_FOUND")));
}

TEST(Refusals, AMissingTokenTableOfBertListsBothPrefixes) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"bert"})", {{"embed", {10, 8}}}).Infer(),
              AllOf(StatusIs(kInvalid, AllOf(HasSubstr("\"embeddings.word_embeddings.weight\""),
                                             HasSubstr("\"bert.embeddings.word_embeddings.weight\""),
                                             HasSubstr("there are \"embed\""))),
                    ReasonIs("TENSOR_NOT_FOUND")));
}

TEST(Refusals, AMissingPositionTableIsNotReplacedByNone) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"gpt2"})", {{"wte.weight", {10, 8}}}).Infer(),
              StatusIs(kInvalid, HasSubstr("has no position table: tried \"wpe.weight\"")));
}

TEST(Refusals, AMissingTypeTableOrLayerNormIsNamed) {
  std::vector<TestTensor> tensors = {{"embeddings.word_embeddings.weight", {10, 8}},
                                     {"embeddings.position_embeddings.weight", {6, 8}}};
  EXPECT_THAT(ModelFolder(R"({"model_type":"bert"})", tensors).Infer(),
              StatusIs(kInvalid, HasSubstr("token type table")));

  tensors.push_back({"embeddings.token_type_embeddings.weight", {2, 8}});
  EXPECT_THAT(ModelFolder(R"({"model_type":"bert"})", tensors).Infer(),
              StatusIs(kInvalid, AllOf(HasSubstr("has no LayerNorm weight"), HasSubstr("LayerNorm.gamma"))));

  tensors.push_back({"embeddings.LayerNorm.weight", {8}});
  EXPECT_THAT(ModelFolder(R"({"model_type":"bert"})", tensors).Infer(),
              StatusIs(kInvalid, HasSubstr("has no LayerNorm bias")));
}

TEST(Refusals, ValuesOfWrongTypesNameTheirKey) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"("vocab_size":10.5)", "vocab_size: must be an integer, got 10.5"},
      {R"("vocab_size":true)", "vocab_size: must be an integer, got true"},
      {R"("vocab_size":0)", "vocab_size: must be an integer >= 1, got 0"},
      {R"("vocab_size":18446744073709551615)", "vocab_size: must be an integer, got 18446744073709551615"},
      {R"("n_embd":[8])", "n_embd: must be an integer, got a list"},
      {R"("tie_word_embeddings":1)", "tie_word_embeddings: must be true or false, got 1"},
      {R"("tie_word_embeddings":null)", "tie_word_embeddings: must be true or false, got null"}};
  for (const auto& [setting, message] : cases) {
    EXPECT_THAT(ModelFolder(absl::StrCat(R"({"model_type":"gpt2",)", setting, "}"), kGptTensors).Infer(),
                StatusIs(kInvalid, HasSubstr("config.json: " + message)));
  }
  EXPECT_THAT(ModelFolder(R"({"model_type":7})", kGptTensors).Infer(),
              StatusIs(kInvalid, HasSubstr("config.json: model_type: must be a string, got 7")));
}

TEST(Refusals, BartNeedsASide) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"bart"})", {{"model.shared.weight", {10, 8}}}).Infer(),
              AllOf(StatusIs(kInvalid, HasSubstr("side: encoder, or side: decoder")), ReasonIs("SIDE_NEEDED")));
}

TEST(Refusals, MarianNeedsASideWhereTheSidesHaveTablesOfTheirOwn) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"marian","share_encoder_decoder_embeddings":false})",
                          {{"model.encoder.embed_tokens.weight", {10, 8}}})
                  .Infer(),
              ReasonIs("SIDE_NEEDED"));
}

TEST(Refusals, BlenderbotSmallsDecoderNormalisesTooEarly) {
  EXPECT_THAT(
      ModelFolder(R"({"model_type":"blenderbot-small"})", {{"model.shared.weight", {10, 8}}})
          .Infer({.side = config::Side::kDecoder}),
      StatusIs(kUnimplemented, HasSubstr("the decoder of model_type blenderbot-small normalises token rows before")));
}

TEST(Refusals, EsmsTokenDropoutNeedsTheIdOfMask) {
  EXPECT_THAT(
      ModelFolder(R"({"model_type":"esm","token_dropout":true})", {{"esm.embeddings.word_embeddings.weight", {10, 8}}})
          .Infer(),
      StatusIs(kUnimplemented,
               AllOf(HasSubstr("config.json: token_dropout = true"), HasSubstr("needs mask_token_id"))));
}

TEST(Refusals, EsmsPositionsNeedAPaddingId) {
  EXPECT_THAT(
      ModelFolder(R"({"model_type":"esm","pad_token_id":null})", {{"esm.embeddings.word_embeddings.weight", {10, 8}}})
          .Infer(),
      StatusIs(kInvalid, HasSubstr("pad_token_id is missing; positions are numbered by it: say padding_idx")));
}

TEST(Refusals, APaddingIdThatNumbersPositionsMustBeARow) {
  EXPECT_THAT(
      ModelFolder(R"({"model_type":"roberta","pad_token_id":10})", {{"embeddings.word_embeddings.weight", {10, 8}}})
          .Infer(),
      StatusIs(kInvalid, HasSubstr("pad_token_id = 10 (pad_token_id) is outside [0, 10)")));
}

// Files of Llama say -1 or 32000, which is one past the last row.
TEST(Refusals, APaddingIdThatNumbersNothingAndIsNoRowIsLeftOut) {
  for (const std::string id : {"-1", "10"}) {
    ASSERT_OK_AND_ASSIGN(const InferredModel inferred,
                         ModelFolder(absl::StrCat(R"({"model_type":"llama","pad_token_id":)", id, "}"),
                                     {{"model.embed_tokens.weight", {10, 64}}})
                             .Infer());

    EXPECT_EQ(inferred.model.padding_idx, std::nullopt);
    EXPECT_THAT(inferred.notes, ElementsAre(HasSubstr("there is no padding id")));
  }
}

TEST(Refusals, PerLayerEmbeddingsAreNotServed) {
  for (const std::string type : {"gemma3n", "gemma3n_text", "gemma4"}) {
    EXPECT_THAT(
        ModelFolder(absl::StrCat(R"({"model_type":")", type, "\"}"), {{"model.embed_tokens.weight", {10, 64}}}).Infer(),
        StatusIs(kUnimplemented, AllOf(HasSubstr("model_type = \"" + type + "\""), HasSubstr("scale: sqrt_dim"))));
  }
}

TEST(Refusals, WordsOfTheFileAreEscaped) {
  EXPECT_THAT(ModelFolder("{\"model_type\":\"gemma4\x7f\"}", {{"model.embed_tokens.weight", {10, 64}}}).Infer(),
              StatusIs(kUnimplemented, HasSubstr(R"(model_type = "gemma4\x7f" has embeddings)")));

  const std::string llama = R"("model_type":"llama","hidden_size":8,"num_attention_heads":2)";
  const std::vector<TestTensor> tables = {{"model.embed_tokens.weight", {10, 8}}};
  EXPECT_THAT(
      ModelFolder(absl::StrCat("{", llama, R"(,"rope_parameters":{"full_attention":{},"a\nb":{"type":3}}})"), tables)
          .Infer(),
      StatusIs(kInvalid, HasSubstr(R"(rope_parameters."a\nb".type: must be a string, got 3)")));

  ASSERT_OK_AND_ASSIGN(
      const InferredModel inferred,
      ModelFolder(absl::StrCat("{", llama, R"(,"rope_scaling":{"type":"linear","factor":2,"a\nb":1,"x)",
                               std::string(1000, 'x'), R"(":2}})"),
                  tables)
          .Infer());
  EXPECT_THAT(inferred.notes,
              ElementsAre(HasSubstr(R"(rope_scaling."a\nb" = 1 is not used)"),
                          HasSubstr("rope_scaling.\"" + std::string(128, 'x') + "…\" = 2 is not used")));
}

TEST(Refusals, OptsProjectionIsRefusedUnlessTokenRowsAloneAreWanted) {
  const ModelFolder folder(R"({"model_type":"opt","word_embed_proj_dim":8,"hidden_size":16})",
                           {{"decoder.embed_tokens.weight", {10, 8}}, {"decoder.embed_positions.weight", {6, 16}}});

  EXPECT_THAT(folder.Infer(),
              StatusIs(kUnimplemented, AllOf(HasSubstr("word_embed_proj_dim = 8"), HasSubstr("hidden_size = 16"),
                                             HasSubstr("position: none"))));
  ASSERT_OK_AND_ASSIGN(const InferredModel alone, folder.Infer({.position = config::NoPositions{}}));
  EXPECT_EQ(Summary(alone.model), "decoder.embed_tokens.weight + none; pad 1");
}

TEST(Refusals, DebertasProjectionIsRefusedUnlessTheSumAloneIsWanted) {
  const ModelFolder folder(R"({"model_type":"deberta-v2","embedding_size":8,"hidden_size":16})",
                           {{"deberta.embeddings.word_embeddings.weight", {10, 8}},
                            {"deberta.embeddings.position_embeddings.weight", {6, 8}}});

  EXPECT_THAT(folder.Infer(),
              StatusIs(kUnimplemented, AllOf(HasSubstr("embedding_size = 8"), HasSubstr("layer_norm: none"))));
  EXPECT_THAT(folder.Infer({.layer_norm = config::Absent{}}), IsOk());
}

TEST(Refusals, AnUnknownKindOfPositionIsRefused) {
  EXPECT_THAT(
      ModelFolder(R"({"model_type":"bert","position_embedding_type":"spiral"})",
                  {{"embeddings.word_embeddings.weight", {10, 8}}, {"embeddings.token_type_embeddings.weight", {2, 8}}})
          .Infer(),
      StatusIs(kUnimplemented, HasSubstr("position_embedding_type = \"spiral\" is not served")));
}

TEST(Refusals, ChatGlmsPositionsOfTwoDimensionsAndItsRatioAreRefused) {
  const std::vector<TestTensor> tensors = {{"transformer.embedding.word_embeddings.weight", {10, 64}}};

  EXPECT_THAT(ModelFolder(R"({"model_type":"chatglm","position_encoding_2d":true})", tensors).Infer(),
              StatusIs(kUnimplemented, HasSubstr("position_encoding_2d = true")));
  const ModelFolder stretched(R"({"model_type":"chatglm","rope_ratio":50,"kv_channels":16})", tensors);
  EXPECT_THAT(stretched.Infer(), StatusIs(kUnimplemented, HasSubstr("rope_ratio = 50")));
  config::RotaryPositions given;
  given.theta = 5e5;
  EXPECT_THAT(stretched.Infer({.position = given}), IsOk());
}

TEST(Refusals, CohereWithoutThetaIsRefusedSinceReleasesDiffer) {
  EXPECT_THAT(ModelFolder(R"({"model_type":"cohere"})", {{"model.embed_tokens.weight", {10, 64}}}).Infer(),
              StatusIs(kInvalid, HasSubstr("rope_theta is missing, and model_type cohere has no certain default")));
}

}  // namespace
}  // namespace embd::architectures
