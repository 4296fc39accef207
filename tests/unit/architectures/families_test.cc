#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/architectures/model_folder.h"
#include "tests/unit/architectures/summary.h"

namespace embd::architectures {
namespace {

using config::Side;

/// A folder, and what it is spelled out as.
struct Family {
  std::string name;
  std::string config;
  std::vector<TestTensor> tensors;
  std::string summary;
  std::optional<Side> side = std::nullopt;
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

class FamilyTest : public ::testing::TestWithParam<Family> {};

TEST_P(FamilyTest, IsSpelledOut) {
  const ModelFolder folder(GetParam().config, GetParam().tensors);

  ASSERT_OK_AND_ASSIGN(const InferredModel inferred, folder.Infer({.side = GetParam().side}));

  EXPECT_EQ(Summary(inferred.model), GetParam().summary);
  EXPECT_EQ(inferred.model.path, "");
  EXPECT_EQ(inferred.model.side, std::nullopt);
}

std::string NameOf(const ::testing::TestParamInfo<Family>& info) { return info.param.name; }

// The tables of a BERT-like checkpoint, with `prefix` before every name.
std::vector<TestTensor> Encoder(const std::string& prefix, std::int64_t positions, std::int64_t types,
                                const std::string& norm = "LayerNorm.") {
  std::vector<TestTensor> tensors = {{prefix + "word_embeddings.weight", {10, 8}},
                                     {prefix + norm + "weight", {8}},
                                     {prefix + norm + "bias", {8}},
                                     {"encoder.layer.0.output.dense.weight", {8, 8}}};
  if (positions > 0) tensors.push_back({prefix + "position_embeddings.weight", {positions, 8}});
  if (types > 0) tensors.push_back({prefix + "token_type_embeddings.weight", {types, 8}});
  return tensors;
}

INSTANTIATE_TEST_SUITE_P(
    Gpt, FamilyTest,
    ::testing::Values(
        Family{"Gpt2",
               R"({"model_type":"gpt2","vocab_size":10,"n_embd":8,"n_positions":6,"pad_token_id":3})",
               {{"wte.weight", {10, 8}}, {"wpe.weight", {6, 8}}, {"ln_f.weight", {8}}},
               "wte.weight + learned wpe.weight[sequential] + types shared when sent, position first; trained 6"},
        Family{"Gpt2OfAHeadWithOtherKeys",
               R"({"model_type":"gpt2","vocab_size":10,"hidden_size":8,"max_position_embeddings":6})",
               {{"transformer.wte.weight", {10, 8}}, {"transformer.wpe.weight", {6, 8}}, {"lm_head.weight", {10, 8}}},
               "transformer.wte.weight + learned transformer.wpe.weight[sequential] + types shared when sent, "
               "position first; trained 6"},
        Family{"Gpt2WithTheTiedTableUnderTheHeadsName",
               R"({"model_type":"gpt2","vocab_size":10})",
               {{"lm_head.weight", {10, 8}}, {"transformer.wpe.weight", {6, 8}}},
               "lm_head.weight + learned transformer.wpe.weight[sequential] + types shared when sent, position first; "
               "trained 6"},
        Family{"GptBigCode",
               R"({"model_type":"gpt_bigcode","vocab_size":10,"n_embd":8,"n_positions":6})",
               {{"transformer.wte.weight", {10, 8}}, {"transformer.wpe.weight", {6, 8}}},
               "transformer.wte.weight + learned transformer.wpe.weight[sequential] + types shared when sent, "
               "position first; trained 6"},
        Family{"GptNeo",
               R"({"model_type":"gpt_neo","vocab_size":10,"hidden_size":8,"max_position_embeddings":6})",
               {{"transformer.wte.weight", {10, 8}}, {"transformer.wpe.weight", {6, 8}}},
               "transformer.wte.weight + learned transformer.wpe.weight[sequential] + types shared when sent, "
               "position first; trained 6"},
        Family{"OpenAiGpt",
               R"({"model_type":"openai-gpt","vocab_size":10,"n_embd":8,"n_positions":6})",
               {{"tokens_embed.weight", {10, 8}}, {"positions_embed.weight", {6, 8}}},
               "tokens_embed.weight + learned positions_embed.weight[fixed] + types shared when sent, position first; "
               "trained 6"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Encoders, FamilyTest,
    ::testing::Values(
        Family{"Bert",
               R"({"model_type":"bert","vocab_size":10,"hidden_size":8,"max_position_embeddings":6,"type_vocab_size":2,
                   "layer_norm_eps":1e-12,"pad_token_id":0,"position_embedding_type":"absolute"})",
               Encoder("embeddings.", 6, 2),
               "embeddings.word_embeddings.weight + learned embeddings.position_embeddings.weight[fixed] + types "
               "embeddings.token_type_embeddings.weight, type first -> norm embeddings.LayerNorm.weight, "
               "embeddings.LayerNorm.bias eps 1e-12; pad 0; trained 6"},
        Family{"BertOfAHead", R"({"model_type":"bert"})", Encoder("bert.embeddings.", 6, 2),
               "bert.embeddings.word_embeddings.weight + learned bert.embeddings.position_embeddings.weight[fixed] + "
               "types bert.embeddings.token_type_embeddings.weight, type first -> norm "
               "bert.embeddings.LayerNorm.weight, bert.embeddings.LayerNorm.bias eps 1e-12; pad 0; trained 6"},
        Family{
            "BertOfATensorFlowFile",
            R"({"model_type":"bert"})",
            {{"bert.embeddings.word_embeddings.weight", {10, 8}},
             {"bert.embeddings.position_embeddings.weight", {6, 8}},
             {"bert.embeddings.token_type_embeddings.weight", {2, 8}},
             {"bert.embeddings.LayerNorm.gamma", {8}},
             {"bert.embeddings.LayerNorm.beta", {8}}},
            "bert.embeddings.word_embeddings.weight + learned bert.embeddings.position_embeddings.weight[fixed] + "
            "types bert.embeddings.token_type_embeddings.weight, type first -> norm bert.embeddings.LayerNorm.gamma, "
            "bert.embeddings.LayerNorm.beta eps 1e-12; pad 0; trained 6"},
        Family{
            "BertWithRelativePositions", R"({"model_type":"bert","position_embedding_type":"relative_key"})",
            Encoder("embeddings.", 6, 2),
            "embeddings.word_embeddings.weight + none + types embeddings.token_type_embeddings.weight, type first -> "
            "norm embeddings.LayerNorm.weight, embeddings.LayerNorm.bias eps 1e-12; pad 0"},
        Family{"Electra", R"({"model_type":"electra","embedding_size":8,"hidden_size":16,"vocab_size":10})",
               Encoder("electra.embeddings.", 6, 2),
               "electra.embeddings.word_embeddings.weight + learned "
               "electra.embeddings.position_embeddings.weight[fixed] + types "
               "electra.embeddings.token_type_embeddings.weight, type first -> norm "
               "electra.embeddings.LayerNorm.weight, electra.embeddings.LayerNorm.bias eps 1e-12; pad 0; trained 6"},
        Family{
            "Albert", R"({"model_type":"albert","embedding_size":8,"hidden_size":16,"vocab_size":10})",
            Encoder("albert.embeddings.", 6, 2),
            "albert.embeddings.word_embeddings.weight + learned albert.embeddings.position_embeddings.weight[fixed] + "
            "types albert.embeddings.token_type_embeddings.weight, type first -> norm "
            "albert.embeddings.LayerNorm.weight, albert.embeddings.LayerNorm.bias eps 1e-12; pad 0; trained 6"},
        Family{
            "BigBird", R"({"model_type":"big_bird","rescale_embeddings":true,"max_position_embeddings":6})",
            Encoder("bert.embeddings.", 6, 2),
            "bert.embeddings.word_embeddings.weight * sqrt_dim + learned "
            "bert.embeddings.position_embeddings.weight[fixed] + types bert.embeddings.token_type_embeddings.weight, "
            "type first -> norm bert.embeddings.LayerNorm.weight, bert.embeddings.LayerNorm.bias eps 1e-12; pad 0; "
            "trained 6"},
        Family{"Roberta",
               R"({"model_type":"roberta","vocab_size":10,"hidden_size":8,"max_position_embeddings":7,
                   "type_vocab_size":1,"layer_norm_eps":1e-05,"pad_token_id":1})",
               Encoder("roberta.embeddings.", 7, 1),
               "roberta.embeddings.word_embeddings.weight + learned "
               "roberta.embeddings.position_embeddings.weight[padding] + types "
               "roberta.embeddings.token_type_embeddings.weight, type first -> norm "
               "roberta.embeddings.LayerNorm.weight, roberta.embeddings.LayerNorm.bias eps 1e-05; pad 1; trained 5"},
        Family{"XlmRoberta", R"({"model_type":"xlm-roberta"})", Encoder("embeddings.", 7, 1),
               "embeddings.word_embeddings.weight + learned embeddings.position_embeddings.weight[padding] + types "
               "embeddings.token_type_embeddings.weight, type first -> norm embeddings.LayerNorm.weight, "
               "embeddings.LayerNorm.bias eps 1e-12; pad 1; trained 5"},
        Family{"Camembert", R"({"model_type":"camembert"})", Encoder("roberta.embeddings.", 7, 1),
               "roberta.embeddings.word_embeddings.weight + learned "
               "roberta.embeddings.position_embeddings.weight[padding] + types "
               "roberta.embeddings.token_type_embeddings.weight, type first -> norm "
               "roberta.embeddings.LayerNorm.weight, roberta.embeddings.LayerNorm.bias eps 1e-12; pad 1; trained 5"},
        Family{
            "Longformer", R"({"model_type":"longformer","layer_norm_eps":1e-05})",
            Encoder("longformer.embeddings.", 7, 1),
            "longformer.embeddings.word_embeddings.weight + learned "
            "longformer.embeddings.position_embeddings.weight[padding] + types "
            "longformer.embeddings.token_type_embeddings.weight, position first -> norm "
            "longformer.embeddings.LayerNorm.weight, longformer.embeddings.LayerNorm.bias eps 1e-05; pad 1; trained 5"},
        Family{"MpnetWhosePaddingIsFixed", R"({"model_type":"mpnet","pad_token_id":3})", Encoder("embeddings.", 7, 0),
               "embeddings.word_embeddings.weight + learned embeddings.position_embeddings.weight[padding], position "
               "first -> norm embeddings.LayerNorm.weight, embeddings.LayerNorm.bias eps 1e-12; pad 1; trained 5"},
        Family{
            "DistilBertWhoseEpsIsFixed",
            R"({"model_type":"distilbert","dim":8,"vocab_size":10,"layer_norm_eps":0.5,"sinusoidal_pos_embds":true})",
            Encoder("distilbert.embeddings.", 6, 0),
            "distilbert.embeddings.word_embeddings.weight + learned "
            "distilbert.embeddings.position_embeddings.weight[fixed] -> norm distilbert.embeddings.LayerNorm.weight, "
            "distilbert.embeddings.LayerNorm.bias eps 1e-12; pad 0; trained 6"},
        Family{"Deberta", R"({"model_type":"deberta","type_vocab_size":2})", Encoder("deberta.embeddings.", 6, 2),
               "deberta.embeddings.word_embeddings.weight + learned "
               "deberta.embeddings.position_embeddings.weight[fixed] + types "
               "deberta.embeddings.token_type_embeddings.weight, position first -> norm "
               "deberta.embeddings.LayerNorm.weight, deberta.embeddings.LayerNorm.bias eps 1e-07, masked 0; pad 0; "
               "trained 6"},
        Family{"DebertaV3", R"({"model_type":"deberta-v2","position_biased_input":false,"type_vocab_size":0})",
               Encoder("deberta.embeddings.", 0, 0),
               "deberta.embeddings.word_embeddings.weight + none, position first -> norm "
               "deberta.embeddings.LayerNorm.weight, deberta.embeddings.LayerNorm.bias eps 1e-07, masked 0; pad 0"},
        Family{"ModernBert",
               R"({"model_type":"modernbert","vocab_size":10,"hidden_size":8,"num_attention_heads":2,"pad_token_id":9,
                   "global_rope_theta":160000.0,"local_rope_theta":10000.0,"max_position_embeddings":8192})",
               {{"model.embeddings.tok_embeddings.weight", {10, 8}}, {"model.embeddings.norm.weight", {8}}},
               "model.embeddings.tok_embeddings.weight + rotary 4/4 theta 160000 half, full_attention 4/4 theta 160000 "
               "half, sliding_attention 4/4 theta 10000 half -> norm model.embeddings.norm.weight eps 1e-05; pad 9; "
               "trained 8192"},
        Family{"EsmWithoutDropout",
               R"({"model_type":"esm","vocab_size":10,"hidden_size":8,"token_dropout":false,"pad_token_id":1,
                   "emb_layer_norm_before":true,"position_embedding_type":"absolute","max_position_embeddings":7})",
               Encoder("esm.embeddings.", 7, 0, "layer_norm."),
               "esm.embeddings.word_embeddings.weight + learned esm.embeddings.position_embeddings.weight[padding] -> "
               "norm esm.embeddings.layer_norm.weight, esm.embeddings.layer_norm.bias eps 1e-12, masked 0; pad 1; "
               "trained 5"},
        Family{"EsmWithTokenDropout",
               R"({"model_type":"esm","num_attention_heads":2,"token_dropout":true,"mask_token_id":3,"pad_token_id":1,
                   "position_embedding_type":"rotary"})",
               {{"esm.embeddings.word_embeddings.weight", {10, 8}}},
               "esm.embeddings.word_embeddings.weight, dropout of 3 + rotary 4/4 theta 10000 half, masked 0; pad 1"},
        Family{"EsmWithRotaryPositions",
               R"({"model_type":"esm","num_attention_heads":2,"token_dropout":false,"pad_token_id":1,
                   "emb_layer_norm_before":false,"position_embedding_type":"rotary"})",
               {{"esm.embeddings.word_embeddings.weight", {10, 8}}},
               "esm.embeddings.word_embeddings.weight + rotary 4/4 theta 10000 half, masked 0; pad 1"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    MaskNumbered, FamilyTest,
    ::testing::Values(
        Family{"Opt",
               R"({"model_type":"opt","vocab_size":10,"hidden_size":8,"word_embed_proj_dim":8,
                   "max_position_embeddings":6,"pad_token_id":1})",
               {{"model.decoder.embed_tokens.weight", {10, 8}}, {"model.decoder.embed_positions.weight", {8, 8}}},
               "model.decoder.embed_tokens.weight + learned model.decoder.embed_positions.weight[mask+2]; pad 1; "
               "trained 6"},
        Family{
            "BioGpt",
            R"({"model_type":"biogpt","vocab_size":10,"hidden_size":8,"max_position_embeddings":6})",
            {{"biogpt.embed_tokens.weight", {10, 8}}, {"biogpt.embed_positions.weight", {8, 8}}},
            "biogpt.embed_tokens.weight * sqrt_dim + learned biogpt.embed_positions.weight[mask+2]; pad 1; trained 6"}),
    NameOf);

// Both sides of a checkpoint of encoder and decoder, with `extra` rows besides six positions.
std::vector<TestTensor> TwoSides(std::int64_t extra) {
  std::vector<TestTensor> tensors = {{"model.shared.weight", {10, 8}}};
  for (const std::string side : {"model.encoder.", "model.decoder."}) {
    tensors.push_back({side + "embed_positions.weight", {6 + extra, 8}});
    tensors.push_back({side + "layernorm_embedding.weight", {8}});
    tensors.push_back({side + "layernorm_embedding.bias", {8}});
  }
  return tensors;
}

INSTANTIATE_TEST_SUITE_P(
    EncoderDecoder, FamilyTest,
    ::testing::Values(
        Family{"BartEncoder", R"({"model_type":"bart","vocab_size":10,"d_model":8,"max_position_embeddings":6})",
               TwoSides(2),
               "model.shared.weight + learned model.encoder.embed_positions.weight[fixed+2] -> norm "
               "model.encoder.layernorm_embedding.weight, model.encoder.layernorm_embedding.bias eps 1e-05; pad 1; "
               "trained 6",
               Side::kEncoder},
        Family{"MbartDecoder", R"({"model_type":"mbart","scale_embedding":true,"max_position_embeddings":6})",
               TwoSides(2),
               "model.shared.weight * sqrt_dim + learned model.decoder.embed_positions.weight[fixed+2] -> norm "
               "model.decoder.layernorm_embedding.weight, model.decoder.layernorm_embedding.bias eps 1e-05; pad 1; "
               "trained 6",
               Side::kDecoder},
        Family{"PlbartWhichScalesUnlessToldOtherwise", R"({"model_type":"plbart"})", TwoSides(2),
               "model.shared.weight * sqrt_dim + learned model.encoder.embed_positions.weight[fixed+2] -> norm "
               "model.encoder.layernorm_embedding.weight, model.encoder.layernorm_embedding.bias eps 1e-05; pad 1; "
               "trained 6",
               Side::kEncoder},
        Family{"Blenderbot", R"({"model_type":"blenderbot","max_position_embeddings":6})", TwoSides(0),
               "model.shared.weight + learned model.decoder.embed_positions.weight[fixed]; pad 0; trained 6",
               Side::kDecoder},
        Family{"BlenderbotSmallEncoder", R"({"model_type":"blenderbot-small","max_position_embeddings":6})",
               TwoSides(0),
               "model.shared.weight + learned model.encoder.embed_positions.weight[fixed] -> norm "
               "model.encoder.layernorm_embedding.weight, model.encoder.layernorm_embedding.bias eps 1e-05; pad 0; "
               "trained 6",
               Side::kEncoder}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Sinusoidal, FamilyTest,
    ::testing::Values(
        Family{"Marian",
               R"({"model_type":"marian","vocab_size":10,"d_model":8,"max_position_embeddings":6,"pad_token_id":9,
                   "scale_embedding":true})",
               {{"model.shared.weight", {10, 8}}, {"model.encoder.embed_positions.weight", {6, 8}}},
               "model.shared.weight * sqrt_dim + sinusoidal half base 10000 6[fixed]; pad 9; trained 6"},
        Family{"MarianWithTwoVocabularies",
               R"({"model_type":"marian","share_encoder_decoder_embeddings":false,"vocab_size":10,
                   "decoder_vocab_size":12,"pad_token_id":9,"max_position_embeddings":6})",
               {{"model.encoder.embed_tokens.weight", {10, 8}}, {"model.decoder.embed_tokens.weight", {12, 8}}},
               "model.decoder.embed_tokens.weight + sinusoidal half base 10000 6[fixed]; pad 9; trained 6",
               Side::kDecoder},
        Family{"Pegasus",
               R"({"model_type":"pegasus","max_position_embeddings":6,"scale_embedding":true})",
               {{"model.shared.weight", {10, 8}}},
               "model.shared.weight * sqrt_dim + sinusoidal half base 10000 6[fixed]; pad 0; trained 6"},
        Family{"PegasusXWithoutARowForPadding",
               R"({"model_type":"pegasus_x","pad_token_id":0})",
               {{"model.shared.weight", {10, 8}}},
               "model.shared.weight * sqrt_dim + sinusoidal tensor2tensor base 10000 16384 to 1048576[fixed]; trained "
               "16384"},
        Family{
            "M2M100",
            R"({"model_type":"m2m_100","max_position_embeddings":6})",
            {{"model.shared.weight", {10, 8}}, {"model.encoder.embed_tokens.weight", {10, 8}, "model.shared.weight"}},
            "model.shared.weight * sqrt_dim + sinusoidal tensor2tensor base 10000 8 to 1048576[padding]; pad 1; "
            "trained 6"},
        Family{
            "Xglm",
            R"({"model_type":"xglm","max_position_embeddings":6})",
            {{"model.embed_tokens.weight", {10, 8}}},
            "model.embed_tokens.weight * sqrt_dim + sinusoidal tensor2tensor base 10000 8 to 1048576[fixed+2]; pad 1; "
            "trained 6"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    WithoutPosition, FamilyTest,
    ::testing::Values(
        Family{"T5",
               R"({"model_type":"t5","vocab_size":10,"d_model":8,"tie_word_embeddings":true})",
               {{"shared.weight", {10, 8}}},
               "shared.weight + none"},
        Family{"Mt5Decoder",
               R"({"model_type":"mt5"})",
               {{"decoder.embed_tokens.weight", {10, 8}}, {"lm_head.weight", {10, 8}}},
               "decoder.embed_tokens.weight + none",
               Side::kDecoder},
        Family{"Umt5",
               R"({"model_type":"umt5"})",
               {{"encoder.embed_tokens.weight", {10, 8}}},
               "encoder.embed_tokens.weight + none"},
        Family{"Bloom",
               R"({"model_type":"bloom","vocab_size":10,"n_embed":8,"hidden_size":64,"layer_norm_epsilon":0.5})",
               {{"word_embeddings.weight", {10, 8}},
                {"word_embeddings_layernorm.weight", {8}},
                {"word_embeddings_layernorm.bias", {8}}},
               "word_embeddings.weight + none -> norm word_embeddings_layernorm.weight, word_embeddings_layernorm.bias "
               "eps 0.5"},
        Family{"Mpt",
               R"({"model_type":"mpt","vocab_size":10,"d_model":8,"max_seq_len":6})",
               {{"transformer.wte.weight", {10, 8}}},
               "transformer.wte.weight + none; trained 6"},
        Family{"MptWithATable",
               R"({"model_type":"mpt","max_seq_len":6,"attn_config":{"alibi":false}})",
               {{"transformer.wte.weight", {10, 8}}, {"transformer.wpe.weight", {6, 8}}},
               "transformer.wte.weight + learned transformer.wpe.weight[sequential]; trained 6"},
        Family{"FalconWithAlibi",
               R"({"model_type":"falcon","alibi":true})",
               {{"transformer.word_embeddings.weight", {10, 8}}},
               "transformer.word_embeddings.weight + none"}),
    NameOf);

// A checkpoint of which only the token table matters.
std::vector<TestTensor> Tokens(const std::string& name) {
  return {{name, {10, 64}}, {"lm_head.weight", {10, 64}}, {"model.norm.weight", {64}}};
}

INSTANTIATE_TEST_SUITE_P(
    Rotary, FamilyTest,
    ::testing::Values(
        Family{"Llama",
               R"({"model_type":"llama","vocab_size":10,"hidden_size":64,"num_attention_heads":4,"rope_theta":500000.0,
                   "max_position_embeddings":8192,"pad_token_id":null,"rope_scaling":null})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 16/16 theta 500000 half; trained 8192"},
        Family{"LlamaWithDefaults", R"({"model_type":"llama"})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 2/2 theta 10000 half; trained 2048"},
        Family{"LlamaOfItsMakers", R"({"model_type":"llama","num_attention_heads":4})", Tokens("tok_embeddings.weight"),
               "tok_embeddings.weight + rotary 16/16 theta 10000 interleaved; trained 2048"},
        Family{"MistralNemo", R"({"model_type":"mistral","num_attention_heads":4,"head_dim":12,"rope_theta":1e6})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 12/12 theta 1e+06 half; trained 131072"},
        Family{"Mixtral", R"({"model_type":"mixtral","num_attention_heads":4})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 16/16 theta 1e+06 half; trained 131072"},
        Family{"Qwen2", R"({"model_type":"qwen2","num_attention_heads":4})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 16/16 theta 10000 half; trained 32768"},
        Family{"Qwen3", R"({"model_type":"qwen3","num_attention_heads":4})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 128/128 theta 10000 half; trained 32768"},
        Family{"Qwen3WithANullHeadDim", R"({"model_type":"qwen3","num_attention_heads":4,"head_dim":null})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 16/16 theta 10000 half; trained 32768"},
        Family{"Olmo", R"({"model_type":"olmo","num_attention_heads":4})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 16/16 theta 10000 half; pad 1; trained 2048"},
        Family{"Granite", R"({"model_type":"granite","num_attention_heads":4,"embedding_multiplier":12.0})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight * 12 + rotary 16/16 theta 10000 half; trained 2048"},
        Family{"InternLm2", R"({"model_type":"internlm2","num_attention_heads":4,"rope_theta":1000000})",
               Tokens("model.tok_embeddings.weight"),
               "model.tok_embeddings.weight + rotary 16/16 theta 1e+06 half; trained 2048"},
        Family{"MiniCpm", R"({"model_type":"minicpm","num_attention_heads":4,"scale_emb":12})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight * 12 + rotary 16/16 theta 10000 half; trained 2048"},
        Family{"Phi", R"({"model_type":"phi","num_attention_heads":2,"partial_rotary_factor":0.4})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 12/32 theta 10000 half; trained 2048"},
        Family{"Phi3", R"({"model_type":"phi3","num_attention_heads":4,"pad_token_id":9})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 16/16 theta 10000 half; pad 9; trained 4096"},
        Family{"GptNeoX",
               R"({"model_type":"gpt_neox","hidden_size":64,"num_attention_heads":4,"rotary_pct":0.25,
                   "rotary_emb_base":20000})",
               {{"gpt_neox.embed_in.weight", {10, 64}}, {"embed_out.weight", {10, 64}}},
               "gpt_neox.embed_in.weight + rotary 4/16 theta 20000 half; trained 2048"},
        Family{"GptJ",
               R"({"model_type":"gptj","n_embd":64,"n_head":2,"rotary_dim":8,"n_positions":2048,"vocab_size":10})",
               Tokens("transformer.wte.weight"),
               "transformer.wte.weight + rotary 8/32 theta 10000 interleaved + types shared when sent; trained 2048"},
        Family{"CodeGen", R"({"model_type":"codegen","n_embd":64,"n_head":2,"rotary_dim":32})",
               Tokens("transformer.wte.weight"),
               "transformer.wte.weight + rotary 32/32 theta 10000 interleaved + types shared when sent; trained 2048"},
        Family{"Falcon", R"({"model_type":"falcon","hidden_size":64,"num_attention_heads":4,"alibi":false})",
               Tokens("transformer.word_embeddings.weight"),
               "transformer.word_embeddings.weight + rotary 16/16 theta 10000 half; trained 2048"},
        Family{"Cohere",
               R"({"model_type":"cohere","num_attention_heads":4,"rope_theta":8000000.0})",
               {{"model.embed_tokens.weight", {10, 64}}},
               "model.embed_tokens.weight + rotary 16/16 theta 8e+06 interleaved; pad 0; trained 8192"},
        Family{"Glm", R"({"model_type":"glm","head_dim":16,"pad_token_id":9})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 8/16 theta 10000 interleaved; pad 9; trained 131072"},
        Family{"DeepseekV2", R"({"model_type":"deepseek_v2","qk_rope_head_dim":8,"head_dim":99})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 8/8 theta 10000 interleaved; trained 2048"},
        Family{"DeepseekV3", R"({"model_type":"deepseek_v3"})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 64/64 theta 10000 interleaved; trained 4096"},
        Family{"DeepseekV3WithHalves", R"({"model_type":"deepseek_v3","rope_interleave":false})",
               Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 64/64 theta 10000 half; trained 4096"},
        Family{"StableLm", R"({"model_type":"stablelm","num_attention_heads":4})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 4/16 theta 10000 half; trained 4096"},
        Family{"Nemotron", R"({"model_type":"nemotron","num_attention_heads":4})", Tokens("model.embed_tokens.weight"),
               "model.embed_tokens.weight + rotary 8/16 theta 10000 half; trained 4096"},
        Family{"Qwen",
               R"({"model_type":"qwen","kv_channels":16,"rotary_pct":1.0,"rotary_emb_base":10000,"seq_length":8192})",
               Tokens("transformer.wte.weight"),
               "transformer.wte.weight + rotary 16/16 theta 10000 half; trained 8192"},
        Family{"ChatGlm",
               R"({"model_type":"chatglm","padded_vocab_size":10,"kv_channels":16,"seq_length":8192})",
               {{"transformer.embedding.word_embeddings.weight", {10, 64}}},
               "transformer.embedding.word_embeddings.weight + rotary 8/16 theta 10000 interleaved; trained 8192"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Gemma, FamilyTest,
    ::testing::Values(
        Family{"Gemma",
               R"({"model_type":"gemma","vocab_size":10,"hidden_size":64,"head_dim":256})",
               {{"model.embed_tokens.weight", {10, 64}}},
               "model.embed_tokens.weight * sqrt_dim as weight + rotary 256/256 theta 10000 half; pad 0; trained 8192"},
        Family{"Gemma2WithTheTableUnderTheHeadsName",
               R"({"model_type":"gemma2"})",
               {{"lm_head.weight", {10, 64}}},
               "lm_head.weight * sqrt_dim as weight + rotary 256/256 theta 10000 half; pad 0; trained 8192"},
        Family{"Gemma3Text",
               R"({"model_type":"gemma3_text","head_dim":16,"rope_theta":1000000,"rope_local_base_freq":10000,
                   "rope_scaling":{"rope_type":"linear","factor":8.0},"max_position_embeddings":131072})",
               {{"model.embed_tokens.weight", {10, 64}}},
               "model.embed_tokens.weight * sqrt_dim as weight + rotary 16/16 theta 1e+06 half linear( factor 8 ), "
               "full_attention 16/16 theta 1e+06 half linear( factor 8 ), sliding_attention 16/16 theta 10000 half "
               "default( ); pad 0; trained 131072"},
        Family{"Gemma3WithImages",
               R"({"model_type":"gemma3","vocab_size":3,"text_config":{"hidden_size":64,"rope_parameters":{
                   "full_attention":{"rope_type":"default","rope_theta":2e6},
                   "sliding_attention":{"rope_type":"default","rope_theta":3e4}}}})",
               {{"language_model.model.embed_tokens.weight", {10, 64}}},
               "language_model.model.embed_tokens.weight * sqrt_dim as weight + rotary 256/256 theta 2e+06 half, "
               "full_attention 256/256 theta 2e+06 half, sliding_attention 256/256 theta 30000 half; pad 0; trained "
               "131072"}),
    NameOf);

}  // namespace
}  // namespace embd::architectures
