#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/architectures/infer_model.h"
#include "server/formats/load_vector.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/architectures/gguf_file.h"
#include "tests/unit/architectures/summary.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::architectures {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// Infers from a file of `architecture` with those pairs and tensors.
absl::StatusOr<InferredModel> Infer(const std::string& architecture, std::vector<std::string> pairs,
                                    const std::vector<GgufTestTensor>& tensors, config::ModelConfig given = {}) {
  pairs.insert(pairs.begin(), GgufPair("general.architecture", architecture));
  const formats::ScratchFolder folder;
  given.name = "m";
  given.path = folder.Write("m.gguf", GgufBytes(pairs, tensors));
  return InferModel(given);
}

std::string SummaryOf(const absl::StatusOr<InferredModel>& inferred) {
  return inferred.ok() ? Summary(inferred->model) : std::string(inferred.status().message());
}

const std::vector<GgufTestTensor> kTokens = {{"token_embd.weight", {10, 64}}, {"output.weight", {10, 64}}};

TEST(GgufModel, LlamaPairsInterleaved) {
  EXPECT_EQ(SummaryOf(Infer("llama",
                            {GgufPair("llama.embedding_length", 64u), GgufPair("llama.attention.head_count", 4u),
                             GgufPair("llama.rope.dimension_count", 16u), GgufPair("llama.rope.freq_base", 5e5f),
                             GgufPair("llama.context_length", 8192u), GgufPair("llama.vocab_size", 10u)},
                            kTokens)),
            "token_embd.weight + rotary 16/16 theta 500000 interleaved; trained 8192");
}

TEST(GgufModel, OtherRotaryDecodersPairHalves) {
  for (const std::string name : {"qwen2", "qwen3", "phi2", "phi3", "gptneox"}) {
    EXPECT_EQ(SummaryOf(Infer(
                  name, {GgufPair(name + ".attention.key_length", 32u), GgufPair(name + ".rope.dimension_count", 8u)},
                  kTokens)),
              "token_embd.weight + rotary 8/32 theta 10000 half");
  }
}

TEST(GgufModel, GemmaScalesItsRows) {
  for (const std::string name : {"gemma", "gemma2"}) {
    EXPECT_EQ(SummaryOf(Infer(name, {GgufPair(name + ".attention.key_length", 256u)}, kTokens)),
              "token_embd.weight * sqrt_dim + rotary 256/256 theta 10000 half");
  }
}

TEST(GgufModel, Gemma3HasTwoEncodings) {
  EXPECT_EQ(
      SummaryOf(Infer("gemma3",
                      {GgufPair("gemma3.attention.key_length", 256u), GgufPair("gemma3.rope.freq_base", 1e6f),
                       GgufPair("gemma3.rope.scaling.type", "linear"), GgufPair("gemma3.rope.scaling.factor", 8.0f)},
                      kTokens)),
      "token_embd.weight * sqrt_dim + rotary 256/256 theta 1e+06 half linear( factor 8 ), full_attention 0/0 theta "
      "0 half, sliding_attention 0/0 theta 10000 half default( )");
}

TEST(GgufModel, Gpt2AddsItsPositions) {
  EXPECT_EQ(SummaryOf(Infer("gpt2", {GgufPair("gpt2.context_length", 6u)},
                            {{"token_embd.weight", {10, 8}}, {"position_embd.weight", {6, 8}}})),
            "token_embd.weight + learned position_embd.weight[sequential] + types shared when sent, position first; "
            "trained 6");
}

TEST(GgufModel, BertHasTypesAndLayerNorm) {
  EXPECT_EQ(SummaryOf(Infer("bert",
                            {GgufPair("bert.context_length", 6u), GgufPair("bert.attention.layer_norm_epsilon", 0.25f)},
                            {{"token_embd.weight", {10, 8}},
                             {"position_embd.weight", {6, 8}},
                             {"token_types.weight", {2, 8}},
                             {"token_embd_norm.weight", {8}},
                             {"token_embd_norm.bias", {8}}})),
            "token_embd.weight + learned position_embd.weight[fixed] + types token_types.weight, type first -> norm "
            "token_embd_norm.weight, token_embd_norm.bias eps 0.25; trained 6");
}

TEST(GgufModel, SourcesNameTheMetadata) {
  ASSERT_OK_AND_ASSIGN(const InferredModel inferred,
                       Infer("qwen2", {GgufPair("qwen2.attention.key_length", 32u)}, kTokens));

  EXPECT_EQ(inferred.architecture, "qwen2");
  EXPECT_THAT(
      inferred.inferred_from,
      AllOf(Contains(InferredValue{"position.rotary.head_dim", "32", "metadata: qwen2.attention.key_length = 32"}),
            Contains(InferredValue{"position.rotary.pairing", "half", "architecture qwen2"})));
}

TEST(GgufModel, AnUnknownArchitectureComesWithYamlToPaste) {
  EXPECT_THAT(Infer("whisper", {}, kTokens),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented,
                             AllOf(HasSubstr("metadata: general.architecture \"whisper\" is not known"),
                                   HasSubstr("m.gguf, tensor: …, scale: 1 }"), HasSubstr("\"token_embd.weight\""))),
                    ReasonIs("UNSUPPORTED_ARCHITECTURE")));
}

TEST(GgufModel, AFileWithoutArchitectureIsRefused) {
  const formats::ScratchFolder folder;

  EXPECT_THAT(InferModel({.name = "m", .path = folder.Write("m.gguf", GgufBytes({}, kTokens))}),
              StatusIs(kInvalid, HasSubstr("m.gguf: metadata: general.architecture is missing")));
}

TEST(GgufModel, AVocabularyLargerThanTheTableIsRefusedWithBothNumbers) {
  EXPECT_THAT(
      Infer("llama", {GgufPair("llama.vocab_size", 12u)}, kTokens),
      StatusIs(kInvalid, HasSubstr("metadata: llama.vocab_size = 12, but token table \"token_embd.weight\" has 10 "
                                   "rows")));
}

TEST(GgufModel, FrequenciesInATensorNeedAScalingThatIsGiven) {
  const std::vector<GgufTestTensor> tensors = {{"token_embd.weight", {10, 64}}, {"rope_freqs.weight", {8}}};
  const std::vector<std::string> pairs = {GgufPair("llama.attention.key_length", 16u)};
  EXPECT_THAT(Infer("llama", pairs, tensors),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("tensor \"rope_freqs.weight\" changes the rotary")));

  config::RotaryPositions given;
  given.scaling = config::RotaryScalingConfig{.type = "linear", .factor = 2};
  EXPECT_THAT(Infer("llama", pairs, tensors, {.position = given}), IsOk());
}

TEST(GgufModel, AScalingOfAnotherTypeIsRefused) {
  EXPECT_THAT(
      Infer("phi3", {GgufPair("phi3.attention.key_length", 16u), GgufPair("phi3.rope.scaling.type", "longrope")},
            kTokens),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("phi3.rope.scaling.type = \"longrope\" is not served")));
}

TEST(GgufModel, MissingKeysAreNamed) {
  const std::string width = "llama.attention.key_length";
  const std::string scaling = "llama.rope.scaling.";
  EXPECT_THAT(Infer("llama", {}, kTokens), StatusIs(kInvalid, HasSubstr("llama.attention.head_count is missing")));
  EXPECT_THAT(Infer("llama", {GgufPair(width, 16u), GgufPair(scaling + "type", "linear")}, kTokens),
              StatusIs(kInvalid, HasSubstr("llama.rope.scaling.factor is missing; metadata: llama.rope.scaling.type")));
  EXPECT_THAT(
      Infer("llama", {GgufPair(width, 16u), GgufPair(scaling + "type", "yarn"), GgufPair(scaling + "factor", 2.0f)},
            kTokens),
      AllOf(StatusIs(kInvalid, HasSubstr("llama.rope.scaling.original_context_length is missing; ")),
            ReasonIs("INVALID_FILE")));
  EXPECT_THAT(Infer("bert", {GgufPair("bert.context_length", 6u)},
                    {{"token_embd.weight", {10, 8}},
                     {"position_embd.weight", {6, 8}},
                     {"token_types.weight", {2, 8}},
                     {"token_embd_norm.weight", {8}},
                     {"token_embd_norm.bias", {8}}}),
              StatusIs(kInvalid, HasSubstr("bert.attention.layer_norm_epsilon is missing")));
}

TEST(GgufModel, ValuesOfWrongTypesNameTheirKey) {
  EXPECT_THAT(Infer("llama", {GgufPair("llama.attention.key_length", "16")}, kTokens),
              AllOf(StatusIs(kInvalid, HasSubstr("llama.attention.key_length: must be an integer, got \"16\"")),
                    ReasonIs("INVALID_FILE")));
  EXPECT_THAT(Infer("llama", {GgufPair("llama.attention.key_length", 0u)}, kTokens),
              StatusIs(kInvalid, HasSubstr("llama.attention.key_length: must be an integer >= 1, got 0")));
  EXPECT_THAT(
      Infer("llama", {GgufPair("llama.attention.key_length", 16u), GgufPair("llama.rope.freq_base", "x")}, kTokens),
      StatusIs(kInvalid, HasSubstr("llama.rope.freq_base: must be a finite number, got \"x\"")));
}

TEST(GgufModel, ADamagedFileIsNamedOnce) {
  const formats::ScratchFolder folder;
  const std::string path = folder.Write("m.gguf", "GGUF");

  EXPECT_THAT(InferModel({.name = "m", .path = path}),
              AllOf(StatusIs(kInvalid, ::testing::StartsWith(path + ": byte 4: the file ends at 4")),
                    ReasonIs("INVALID_FILE")));
}

TEST(GgufModel, VectorsAreReadForLayerNorm) {
  const formats::ScratchFolder folder;
  const std::string path = folder.Write("v.gguf", GgufBytes({}, {{"v", {3}}, {"t", {2, 2}}}));

  ASSERT_OK_AND_ASSIGN(const std::vector<float> vector, formats::LoadVector(path, "v"));

  EXPECT_THAT(vector, ::testing::ElementsAre(0, 0, 0));
  EXPECT_THAT(formats::LoadVector(path, "t"), StatusIs(kInvalid, HasSubstr("must have one dimension, has 2")));
  EXPECT_THAT(formats::LoadVector(path, "w"), StatusIs(kInvalid, HasSubstr("no tensor \"w\"")));
}

}  // namespace
}  // namespace embd::architectures
