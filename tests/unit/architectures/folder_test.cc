#include <filesystem>
#include <string>
#include <utility>
#include <variant>
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
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kGpt2[] = R"({"model_type":"gpt2","vocab_size":10})";

TEST(ModelFolder, ATableIsTakenFromTheShardThatHoldsIt) {
  const ModelFolder folder(kGpt2, {});
  std::filesystem::remove(folder.Path("model.safetensors"));
  folder.Write("model-00001-of-00003.safetensors", Safetensors({{"wte.weight", {10, 8}}}));
  folder.Write("model-00002-of-00003.safetensors", Safetensors({{"wpe.weight", {6, 8}}}));
  folder.Write("model.safetensors.index.json",
               R"({"metadata":{"total_size":1},"weight_map":{"wte.weight":"model-00001-of-00003.safetensors",
                   "wpe.weight":"model-00002-of-00003.safetensors","h.0":"model-00003-of-00003.safetensors"}})");

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer());

  EXPECT_EQ(std::get<config::TableFile>(inferred.model.token).path, folder.Path("model-00001-of-00003.safetensors"));
  const auto& learned = std::get<config::LearnedPositions>(*inferred.model.position);
  EXPECT_EQ(std::get<config::TableFile>(learned.source).path, folder.Path("model-00002-of-00003.safetensors"));
}

TEST(ModelFolder, ATableUnderTwoNamesIsOneTable) {
  const ModelFolder folder(R"({"model_type":"t5"})", {{"shared.weight", {10, 8}},
                                                      {"encoder.embed_tokens.weight", {10, 8}, "shared.weight"},
                                                      {"decoder.embed_tokens.weight", {10, 8}, "shared.weight"}});

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer());

  EXPECT_EQ(Summary(inferred.model), "shared.weight + none");
}

TEST(ModelFolder, TwoTablesThatDifferAreRefusedUnlessOneIsNamed) {
  const ModelFolder folder(R"({"model_type":"t5"})",
                           {{"shared.weight", {10, 8}}, {"encoder.embed_tokens.weight", {10, 8}}});

  EXPECT_THAT(
      folder.Infer(),
      StatusIs(kInvalid, HasSubstr("has two tensors that could be the token table and differ: \"shared.weight\" "
                                   "and \"encoder.embed_tokens.weight\"; name the one that is meant as "
                                   "token.tensor")));
  EXPECT_THAT(folder.Infer({.token = config::TableFile{.tensor = "encoder.embed_tokens.weight"}}), IsOk());
}

TEST(ModelFolder, TheHeadsTableIsNoTokenTableUnlessTheyAreTied) {
  const std::vector<TestTensor> tensors = {{"lm_head.weight", {10, 64}}};

  EXPECT_THAT(ModelFolder(R"({"model_type":"gemma","head_dim":16})", tensors).Infer(), IsOk());
  EXPECT_THAT(ModelFolder(R"({"model_type":"llama"})", tensors).Infer(),
              StatusIs(kInvalid, HasSubstr("\"lm_head.weight\" stands in only where tie_word_embeddings is true")));
  EXPECT_THAT(ModelFolder(R"({"model_type":"llama","tie_word_embeddings":true})", tensors).Infer(), IsOk());
  EXPECT_THAT(ModelFolder(R"({"model_type":"gemma","tie_word_embeddings":false})", tensors).Infer(),
              StatusIs(kInvalid, HasSubstr("token table")));
}

TEST(ModelFolder, BothPrefixesWithDifferentTablesAreRefused) {
  const ModelFolder folder(
      kGpt2, {{"wte.weight", {10, 8}}, {"transformer.wte.weight", {10, 8}}, {"transformer.wpe.weight", {6, 8}}});

  EXPECT_THAT(folder.Infer(), StatusIs(kInvalid, HasSubstr("\"wte.weight\" and \"transformer.wte.weight\"")));
}

TEST(ModelFolder, BothPrefixesOfBertAreRefusedUnlessOneIsNamed) {
  const ModelFolder folder(R"({"model_type":"bert"})", {{"embeddings.word_embeddings.weight", {10, 8}},
                                                        {"bert.embeddings.word_embeddings.weight", {10, 8}},
                                                        {"bert.embeddings.position_embeddings.weight", {6, 8}},
                                                        {"bert.embeddings.token_type_embeddings.weight", {2, 8}},
                                                        {"bert.embeddings.LayerNorm.weight", {8}},
                                                        {"bert.embeddings.LayerNorm.bias", {8}}});

  EXPECT_THAT(folder.Infer(), StatusIs(kInvalid, HasSubstr("two tensors that could be the token table and differ")));
  EXPECT_THAT(folder.Infer({.token = config::TableFile{.tensor = "bert.embeddings.word_embeddings.weight"}}), IsOk());
}

// Rows 0 and 1 are those of ids before padding and of padding itself.
TEST(ModelFolder, ARobertaTableOf514RowsHasRoomFor512Positions) {
  const ModelFolder folder(R"({"model_type":"roberta","max_position_embeddings":514})",
                           {{"embeddings.word_embeddings.weight", {10, 8}},
                            {"embeddings.position_embeddings.weight", {514, 8}},
                            {"embeddings.token_type_embeddings.weight", {1, 8}},
                            {"embeddings.LayerNorm.weight", {8}},
                            {"embeddings.LayerNorm.bias", {8}}});

  ASSERT_OK_AND_ASSIGN(const InferredModel standard, folder.Infer());
  ASSERT_OK_AND_ASSIGN(const InferredModel shifted, folder.Infer({.padding_idx = 3}));

  EXPECT_EQ(standard.model.trained_context_length, 512);
  EXPECT_EQ(shifted.model.trained_context_length, 510);
}

TEST(ModelFolder, SentenceTransformersKeepTheTransformerInAFolderOfItsOwn) {
  const ModelFolder folder(kGpt2, {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}}, "0_Transformer");
  folder.Write("modules.json", R"([{"idx":0,"name":"0","path":"0_Transformer",
                                    "type":"sentence_transformers.models.Transformer"},
                                   {"idx":1,"name":"1","path":"1_Pooling","type":"sentence_transformers.models.Pooling"}])");

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer());

  EXPECT_EQ(std::get<config::TableFile>(inferred.model.token).path, folder.Path("0_Transformer/model.safetensors"));
}

TEST(ModelFolder, SentenceTransformersMayKeepTheTransformerInTheFolderItself) {
  const ModelFolder folder(kGpt2, {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}});
  folder.Write("modules.json", R"([{"path":"","type":"sentence_transformers.models.Transformer"}])");

  EXPECT_THAT(folder.Infer(), IsOk());
}

TEST(ModelFolder, AModuleThatIsNoTransformerIsRefused) {
  const ModelFolder folder(kGpt2, {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}});
  folder.Write("modules.json", R"([{"path":"","type":"sentence_transformers.models.CLIPModel"}])");

  EXPECT_THAT(folder.Infer(),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented,
                             HasSubstr("modules.json: [0].type: \"sentence_transformers.models.CLIPModel\"")),
                    ReasonIs("UNSUPPORTED_ARCHITECTURE")));
}

TEST(ModelFolder, ModulesMayNotLeadOutOfTheFolder) {
  for (const std::string path : {"..", "../other", "/etc", R"(a\u0000)"}) {
    const ModelFolder folder(kGpt2, {{"wte.weight", {10, 8}}});
    folder.Write("modules.json",
                 absl::StrCat(R"([{"path":")", path, R"(","type":"sentence_transformers.models.Transformer"}])"));

    EXPECT_THAT(folder.Infer(), StatusIs(kInvalid, HasSubstr("must be a single name"))) << path;
  }
}

TEST(ModelFolder, ModulesThatAreNoListAreRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "modules.json: byte 0: the text is not valid JSON"},
      {"{}", "modules.json: must be a list of modules"},
      {"[]", "modules.json: must be a list of modules"},
      {"[1]", "modules.json: must be a list of modules"},
      {R"([{"path":1,"type":"a.Transformer"}])", "modules.json: [0].path: must be a string"},
      {R"([{"type":"a.Transformer"}])", "modules.json: [0].path: must be a string"},
      {R"([{"path":""}])", "modules.json: [0].type: must be a string"},
      {R"([{"path":"","type":null}])", "modules.json: [0].type: must be a string"}};
  for (const auto& [modules, message] : cases) {
    const ModelFolder folder(kGpt2, {{"wte.weight", {10, 8}}});
    folder.Write("modules.json", modules);

    EXPECT_THAT(folder.Infer(), AllOf(StatusIs(kInvalid, HasSubstr(message)), ReasonIs("INVALID_FILE"))) << modules;
  }
}

TEST(ModelFolder, AModuleWhoseFolderIsNotThereIsNotFound) {
  const ModelFolder folder(kGpt2, {{"wte.weight", {10, 8}}});
  folder.Write("modules.json", R"([{"path":"0_Transformer","type":"sentence_transformers.models.Transformer"}])");

  EXPECT_THAT(folder.Infer(), AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("/0_Transformer/config.json: ")),
                                    ReasonIs("FILE_NOT_FOUND")));
}

TEST(ModelFolder, AFolderWithoutConfigIsRefused) {
  const ModelFolder folder(kGpt2, {{"wte.weight", {10, 8}}});
  std::filesystem::remove(folder.Path("config.json"));

  EXPECT_THAT(folder.Infer(),
              AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("/config.json: ")), ReasonIs("FILE_NOT_FOUND")));
}

TEST(ModelFolder, AConfigThatIsNoJsonIsRefusedAtItsByte) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "byte 0: the text is not valid JSON"},
      {"{", "byte 1: the text is not valid JSON"},
      {"{\"model_type\":}", "byte 14: the text is not valid JSON"},
      {"{\"a\":NaN}", "byte 5: the text is not valid JSON"},
      {"{\"a\":1e999}", ": the text is not valid JSON"},
      {"{\"a\":1,}", "byte 7: the text is not valid JSON"},
      {"{'a':1}", "byte 1: the text is not valid JSON"},
      {"{} // of 2024", "byte 3: the text is not valid JSON"},
      {"{\"a\":\"\xFF\"}", "byte 6: the text is not valid JSON"},
      {"\xEF\xBB\xBF{}", "byte 0: the text is not valid JSON: a byte order mark"},
      {std::string("{}\0{}", 5), "byte 2: the text is not valid JSON: a zero byte"}};
  for (const auto& [config, message] : cases) {
    EXPECT_THAT(
        ModelFolder(config, {{"wte.weight", {10, 8}}}).Infer(),
        AllOf(StatusIs(kInvalid, AllOf(HasSubstr("config.json: "), HasSubstr(message))), ReasonIs("INVALID_FILE")))
        << config;
  }
}

TEST(ModelFolder, AConfigThatIsNoObjectIsRefused) {
  for (const std::string config : {"[]", "null", "1", "\"gpt2\""}) {
    EXPECT_THAT(ModelFolder(config, {{"wte.weight", {10, 8}}}).Infer(),
                AllOf(StatusIs(kInvalid, HasSubstr("config.json: ")), ReasonIs("INVALID_FILE")))
        << config;
  }
}

TEST(ModelFolder, OfAKeyThatStandsTwiceInConfigTheLastOneCounts) {
  const ModelFolder folder(R"({"model_type":"bert","vocab_size":7,"model_type":"gpt2","vocab_size":10})",
                           {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}});

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer());

  EXPECT_EQ(inferred.architecture, "gpt2");
}

// A config with lists in lists below its own object, as many levels in all.
std::string Nested(std::size_t levels) {
  return absl::StrCat(R"({"model_type":"gpt2","a":)", std::string(levels - 1, '['), std::string(levels - 1, ']'), "}");
}

TEST(ModelFolder, AConfigThatIsNestedTooDeepIsRefused) {
  const std::vector<TestTensor> tensors = {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}};

  EXPECT_THAT(ModelFolder(Nested(64), tensors).Infer(), IsOk());
  for (const std::size_t levels : {65u, 100'000u}) {
    EXPECT_THAT(
        ModelFolder(Nested(levels), tensors).Infer(),
        AllOf(StatusIs(kInvalid, HasSubstr("config.json: is nested deeper than 64 levels")), ReasonIs("INVALID_FILE")));
  }
}

TEST(ModelFolder, AConfigThatIsTooLargeIsRefused) {
  const std::string large = absl::StrCat("{\"a\":\"", std::string(std::size_t{5} << 20, 'x'), "\"}");

  EXPECT_THAT(ModelFolder(large, {}).Infer(), StatusIs(kInvalid, HasSubstr("at most 4194304 are read")));
}

TEST(ModelFolder, AFolderOfOtherWeightsIsToldWhatToDo) {
  const ModelFolder folder(kGpt2, {});
  std::filesystem::remove(folder.Path("model.safetensors"));
  folder.Write("pytorch_model.bin", "");

  EXPECT_THAT(folder.Infer(),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("convert the weights to safetensors")));
}

TEST(ModelFolder, ErrorsBeginWithTheFolderOnce) {
  const ModelFolder folder(R"({"model_type":"gpt2","vocab_size":"x"})", {{"wte.weight", {10, 8}}});

  const auto inferred = folder.Infer();

  const std::string path = std::filesystem::path(folder.Path("config.json")).parent_path();
  EXPECT_THAT(inferred, StatusIs(kInvalid, StartsWith(path + ": config.json: vocab_size: ")));
  EXPECT_THAT(std::string(inferred.status().message()).substr(1), Not(HasSubstr(path)));
}

TEST(ModelFolder, WhatWasInferredSaysFromWhat) {
  const ModelFolder folder(R"({"model_type":"roberta","pad_token_id":1})",
                           {{"roberta.embeddings.word_embeddings.weight", {10, 8}},
                            {"roberta.embeddings.position_embeddings.weight", {6, 8}},
                            {"roberta.embeddings.token_type_embeddings.weight", {1, 8}},
                            {"roberta.embeddings.LayerNorm.weight", {8}},
                            {"roberta.embeddings.LayerNorm.bias", {8}}});

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer());

  EXPECT_EQ(inferred.architecture, "roberta");
  EXPECT_THAT(
      inferred.inferred_from,
      AllOf(Contains(InferredValue{"token.tensor", "roberta.embeddings.word_embeddings.weight", "model_type roberta"}),
            Contains(InferredValue{"padding_idx", "1", "config.json: pad_token_id = 1"}),
            Contains(InferredValue{"position.numbering", "padding", "model_type roberta"}),
            Contains(InferredValue{"layer_norm.eps", "1e-12", "class default"}),
            Contains(::testing::Field(&InferredValue::value, EndsWith("/model.safetensors")))));
}

TEST(ModelFolder, ProjectionsThatFollowAreNoted) {
  const ModelFolder folder(R"({"model_type":"electra","embedding_size":8,"hidden_size":16})",
                           {{"electra.embeddings.word_embeddings.weight", {10, 8}},
                            {"electra.embeddings.position_embeddings.weight", {6, 8}},
                            {"electra.embeddings.token_type_embeddings.weight", {1, 8}},
                            {"electra.embeddings.LayerNorm.weight", {8}},
                            {"electra.embeddings.LayerNorm.bias", {8}}});

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer());

  EXPECT_THAT(inferred.notes, ::testing::ElementsAre(HasSubstr("projects these vectors from 8 to 16 elements")));
}

TEST(ModelFolder, AlibiIsNoted) {
  const ModelFolder folder(R"({"model_type":"mpt"})", {{"transformer.wte.weight", {10, 8}}});

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer());

  EXPECT_THAT(inferred.notes, ::testing::ElementsAre(HasSubstr("ALiBi")));
}

}  // namespace
}  // namespace embd::architectures
