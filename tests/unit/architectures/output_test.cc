#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/architectures/gguf_file.h"
#include "tests/unit/architectures/model_folder.h"

namespace embd::architectures {
namespace {

using ::embd::testing::StatusIs;
using ::testing::Contains;
using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// "tied, scale 0.5, softcap 30, bias lm_head.bias", without what is unset.
std::string OutputText(const config::Output& output) {
  std::string text = !output.tied.has_value() ? "unsaid" : *output.tied ? "tied" : "untied";
  if (output.scale.has_value()) absl::StrAppend(&text, ", scale ", *output.scale);
  if (output.softcap.has_value()) absl::StrAppend(&text, ", softcap ", std::get<double>(*output.softcap));
  if (output.bias.has_value()) absl::StrAppend(&text, ", bias ", std::get<config::TableFile>(*output.bias).tensor);
  return text;
}

/// A folder without positions, and how its results become scores.
struct Head {
  std::string name;
  std::string settings;  ///< besides model_type and those of positions
  std::vector<TestTensor> tensors;
  std::string output;
  std::optional<config::Side> side = std::nullopt;
};

void PrintTo(const Head& head, std::ostream* out) { *out << head.name; }

class OutputTest : public ::testing::TestWithParam<Head> {};

// Neither positions nor LayerNorm have anything to do with it.
TEST_P(OutputTest, IsInferred) {
  const ModelFolder folder(absl::StrCat("{", GetParam().settings, "}"), GetParam().tensors);

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer({.side = GetParam().side,
                                                                   .token_types = config::Absent{},
                                                                   .position = config::NoPositions{},
                                                                   .layer_norm = config::Absent{}}));

  EXPECT_EQ(OutputText(inferred.model.output), GetParam().output);
}

std::string NameOf(const ::testing::TestParamInfo<Head>& info) { return info.param.name; }

const TestTensor kLlama = {"model.embed_tokens.weight", {10, 64}};
const TestTensor kGpt = {"transformer.wte.weight", {10, 64}};
const TestTensor kShared = {"model.shared.weight", {10, 64}};
const TestTensor kHeadBias = {"lm_head.bias", {10}};
const TestTensor kFinalBias = {"final_logits_bias", {1, 10}};

INSTANTIATE_TEST_SUITE_P(
    Decoders, OutputTest,
    ::testing::Values(
        Head{"Gpt2", R"("model_type":"gpt2")", {kGpt}, "tied"},
        Head{"Gpt2Untied", R"("model_type":"gpt2","tie_word_embeddings":false)", {kGpt}, "untied"},
        Head{"Llama", R"("model_type":"llama")", {kLlama}, "untied"},
        Head{"LlamaTied", R"("model_type":"llama","tie_word_embeddings":true)", {kLlama}, "tied"},
        Head{"Gemma", R"("model_type":"gemma")", {kLlama}, "tied"},
        Head{"Gemma2", R"("model_type":"gemma2")", {kLlama}, "tied, softcap 30"},
        Head{"Gemma2OfItsOwn",
             R"("model_type":"gemma2","final_logit_softcapping":12.5)",
             {kLlama},
             "tied, softcap 12.5"},
        Head{"Gemma2WithoutSoftcap", R"("model_type":"gemma2","final_logit_softcapping":null)", {kLlama}, "tied"},
        Head{"Gemma3", R"("model_type":"gemma3_text")", {kLlama}, "tied"},
        Head{"Cohere", R"("model_type":"cohere")", {kLlama}, "tied, scale 0.0625"},
        Head{"CohereOfItsOwn", R"("model_type":"cohere","logit_scale":0.25)", {kLlama}, "tied, scale 0.25"},
        Head{"GraniteDivides", R"("model_type":"granite","logits_scaling":8.0)", {kLlama}, "untied, scale 0.125"},
        Head{"MiniCpm", R"("model_type":"minicpm","dim_model_base":16)", {kLlama}, "tied, scale 0.25"},
        Head{"PhiUntied", R"("model_type":"phi")", {kLlama, kHeadBias}, "untied"},
        Head{"PhiTied",
             R"("model_type":"phi","tie_word_embeddings":true)",
             {kLlama, kHeadBias},
             "tied, bias lm_head.bias"},
        Head{"GptJTied",
             R"("model_type":"gptj","tie_word_embeddings":true)",
             {kGpt, kHeadBias},
             "tied, bias lm_head.bias"},
        Head{"GptNeoX", R"("model_type":"gpt_neox")", {{"embed_in.weight", {10, 64}}}, "untied"},
        Head{"Opt", R"("model_type":"opt")", {{"model.decoder.embed_tokens.weight", {10, 64}}}, "tied"},
        Head{"BioGpt", R"("model_type":"biogpt")", {{"biogpt.embed_tokens.weight", {10, 64}}}, "tied"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Encoders, OutputTest,
    ::testing::Values(
        Head{"Bert",
             R"("model_type":"bert")",
             {{"bert.embeddings.word_embeddings.weight", {10, 8}},
              {"cls.predictions.bias", {10}},
              {"cls.predictions.decoder.bias", {10}}},
             "tied, bias cls.predictions.bias"},
        Head{"BertWithoutAHead", R"("model_type":"bert")", {{"embeddings.word_embeddings.weight", {10, 8}}}, "tied"},
        Head{"Albert",
             R"("model_type":"albert")",
             {{"albert.embeddings.word_embeddings.weight", {10, 8}}, {"predictions.decoder.bias", {10}}},
             "tied, bias predictions.decoder.bias"},
        Head{"Electra",
             R"("model_type":"electra")",
             {{"electra.embeddings.word_embeddings.weight", {10, 8}}, {"generator_lm_head.bias", {10}}},
             "tied, bias generator_lm_head.bias"},
        Head{"Roberta",
             R"("model_type":"roberta")",
             {{"roberta.embeddings.word_embeddings.weight", {10, 8}}, kHeadBias},
             "tied, bias lm_head.bias"},
        Head{"DistilBert",
             R"("model_type":"distilbert")",
             {{"distilbert.embeddings.word_embeddings.weight", {10, 8}}, {"vocab_projector.bias", {10}}},
             "tied, bias vocab_projector.bias"},
        Head{"Deberta",
             R"("model_type":"deberta-v2")",
             {{"deberta.embeddings.word_embeddings.weight", {10, 8}}, {"cls.predictions.bias", {10}}},
             "tied, bias cls.predictions.bias"},
        Head{"ModernBert",
             R"("model_type":"modernbert")",
             {{"model.embeddings.tok_embeddings.weight", {10, 8}}, {"decoder.bias", {10}}},
             "tied, bias decoder.bias"},
        Head{"Esm",
             R"("model_type":"esm","pad_token_id":1)",
             {{"esm.embeddings.word_embeddings.weight", {10, 8}}, kHeadBias},
             "tied, bias lm_head.bias"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    EncoderDecoders, OutputTest,
    ::testing::Values(
        Head{"Bart",
             R"("model_type":"bart")",
             {kShared, kFinalBias},
             "tied, bias final_logits_bias",
             config::Side::kDecoder},
        Head{"Marian", R"("model_type":"marian")", {kShared, kFinalBias}, "tied, bias final_logits_bias"},
        Head{"MarianOfTwoVocabularies",
             R"("model_type":"marian","share_encoder_decoder_embeddings":false)",
             {{"model.decoder.embed_tokens.weight", {10, 8}}, kFinalBias},
             "tied, bias final_logits_bias",
             config::Side::kDecoder},
        Head{"MarianEncoderOfTwoVocabularies",
             R"("model_type":"marian","share_encoder_decoder_embeddings":false)",
             {{"model.encoder.embed_tokens.weight", {12, 8}}, kFinalBias},
             "untied",
             config::Side::kEncoder},
        Head{"M2m100", R"("model_type":"m2m_100")", {kShared, kFinalBias}, "tied"},
        Head{"T5Scales", R"("model_type":"t5")", {{"shared.weight", {10, 16}}}, "tied, scale 0.25"},
        Head{"T5Untied", R"("model_type":"t5","tie_word_embeddings":false)", {{"shared.weight", {10, 16}}}, "untied"},
        Head{"Mt5", R"("model_type":"mt5")", {{"shared.weight", {10, 16}}}, "untied"}),
    NameOf);

// As Granite, tied.
ModelFolder Granite(const std::string& scaling) {
  return {absl::StrCat(R"({"model_type":"granite","tie_word_embeddings":true,"logits_scaling":)", scaling, "}"),
          {kLlama, {"bias", {10}}}};
}

const config::ModelConfig kNoPosition = {.position = config::NoPositions{}};

TEST(InferredOutput, SaysFromWhat) {
  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, Granite("8").Infer(kNoPosition));

  EXPECT_THAT(inferred.inferred_from,
              Contains(InferredValue{"output.tied", "true", "config.json: tie_word_embeddings = true"}));
  EXPECT_THAT(inferred.inferred_from,
              Contains(InferredValue{"output.scale", "0.125", "config.json: logits_scaling = 8"}));
}

TEST(InferredOutput, GivenValuesTakeTheirPlace) {
  config::ModelConfig given = kNoPosition;
  given.output = {.tied = false, .scale = 3.0, .softcap = 7.0, .bias = config::TableFile{.tensor = "bias"}};

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, Granite("8").Infer(given));

  EXPECT_EQ(OutputText(inferred.model.output), "untied, scale 3, softcap 7, bias bias");
  EXPECT_THAT(std::get<config::TableFile>(*inferred.model.output.bias).path, HasSubstr("model.safetensors"));
  EXPECT_THAT(inferred.inferred_from, Each(Field(&InferredValue::key, Not(StartsWith("output.scale")))));
  EXPECT_THAT(inferred.inferred_from, Each(Field(&InferredValue::key, Not(StartsWith("output.tied")))));
}

TEST(InferredOutput, AScaleThatNoScoreCanHaveIsRefusedUnlessOneIsGiven) {
  EXPECT_THAT(Granite("-2").Infer(kNoPosition),
              StatusIs(kInvalid, HasSubstr("config.json: logits_scaling = -2 must be above 0; say output.scale")));
  config::ModelConfig given = kNoPosition;
  given.output.scale = 2;
  EXPECT_THAT(Granite("-2").Infer(given), testing::IsOk());
}

TEST(InferredOutput, ABiasOfAnotherLengthIsRefusedUnlessNoneIsWanted) {
  const ModelFolder folder(R"({"model_type":"marian"})", {kShared, {"final_logits_bias", {1, 9}}});

  EXPECT_THAT(folder.Infer(), StatusIs(kInvalid, HasSubstr("\"final_logits_bias\" has shape [1, 9], the token table 10 "
                                                           "rows; to do without it, say output: { bias: none }")));
  config::ModelConfig given;
  given.output.bias = config::Absent{};
  EXPECT_THAT(folder.Infer(given), testing::IsOk());
}

// What a GGUF file of `architecture` says, with a key length for its rotary encoding.
absl::StatusOr<InferredModel> InferGgufFile(const std::string& architecture, std::vector<GgufTestTensor> tensors) {
  const formats::ScratchFolder folder;
  return InferModel(
      {.name = "m",
       .path = folder.Write("m.gguf", GgufBytes({GgufPair("general.architecture", architecture)}, tensors)),
       .position = config::NoPositions{}});
}

TEST(InferredOutput, AGgufFileIsTiedWhereItHasNoProjection) {
  ASSERT_OK_AND_ASSIGN(const InferredModel tied, InferGgufFile("gemma2", {{"token_embd.weight", {10, 64}}}));
  ASSERT_OK_AND_ASSIGN(const InferredModel untied,
                       InferGgufFile("llama", {{"token_embd.weight", {10, 64}}, {"output.weight", {10, 64}}}));

  EXPECT_EQ(OutputText(tied.model.output), "tied, softcap 30");
  EXPECT_EQ(OutputText(untied.model.output), "untied");
}

}  // namespace
}  // namespace embd::architectures
