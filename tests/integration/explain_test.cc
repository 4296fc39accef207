// How a cell's embedding comes about, and what its positions do: from configuration to reply.

#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "server/config/load.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kFailed = absl::StatusCode::kFailedPrecondition;

// The demo models and some that add more than positions.
class PositionsAndCells : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new formats::ScratchFolder();
    const std::string norm = folder_->Write(
        "norm.npy", formats::NpyFile(formats::NpyDict("'<f4'", "(64,)"), formats::Raw(std::vector<float>(64, 1.5f))));
    const std::string words = folder_->Write("words.txt", "king 1 2\nqueen 3 4\n");
    const std::string tokens = "token: { seeded: { vocab_size: 320, embedding_dim: 64, seed: 3 }";
    const std::string learned = "learned: { seeded: { max_context_length: 128 } }";
    const std::vector<std::string> models = {
        absl::StrCat("{ name: half, ", tokens, " }, position: { sinusoidal: { max_context_length: 16, layout: half, ",
                     "base: 500 } } }"),
        absl::StrCat("{ name: t2t, ", tokens, " }, padding_idx: 1, position: { numbering: padding, ",
                     "sinusoidal: { max_context_length: 700, layout: tensor2tensor } } }"),
        absl::StrCat("{ name: bert, ", tokens, " }, position: { ", learned,
                     " }, token_type: { seeded: { type_vocab_size: 2 } }, layer_norm: { weight: { file: ", norm,
                     " }, eps: 1e-12 }, zero_masked: true, sum_order: position_first }"),
        absl::StrCat("{ name: opt, ", tokens, ", scale: 8, out_of_range: zero }, position: { ", learned,
                     ", numbering: mask, row_offset: 2 } }"),
        absl::StrCat("{ name: gpt2, ", tokens, ", out_of_range: { unk: 5 } }, token_type: { shared: true } }"),
        absl::StrCat("{ name: words, token: { file: ", words, " } }"),
        absl::StrCat("{ name: layers, ", tokens, " }, position: { rotary: { head_dim: 8, layer_types: { sliding: { ",
                     "theta: 100 } } } } }")};
    auto config = config::ParseYaml(absl::StrCat("models: [", absl::StrJoin(models, ", "), "]"), "e.yaml");
    ASSERT_THAT(config, testing::IsOk());
    for (config::ModelConfig& demo : config::DemoModels()) config->models.push_back(std::move(demo));
    served_ = new testing::ServedModels(*config);
    client_ = new client::Client(served_->TcpClient());
  }
  static void TearDownTestSuite() {
    delete client_;
    delete served_;
    delete folder_;
  }

  static formats::ScratchFolder* folder_;
  static testing::ServedModels* served_;
  static client::Client* client_;
};
formats::ScratchFolder* PositionsAndCells::folder_ = nullptr;
testing::ServedModels* PositionsAndCells::served_ = nullptr;
client::Client* PositionsAndCells::client_ = nullptr;

TEST_F(PositionsAndCells, EmbeddingOfACellIsWhatEmbedReturns) {
  for (const std::string model :
       {"demo-learned", "demo-sinusoidal", "demo-rotary", "half", "t2t", "bert", "opt", "gpt2"}) {
    const bool policy = model == "opt" || model == "gpt2";
    client::ExplainCellRequest request = {
        .model = model, .ids = {7, 1, 319, 7, 1, policy ? 999 : 2}, .batch_size = 2, .sequence_length = 3};
    if (model == "opt" || model == "bert") request.attention_mask = {0, 1, 1, 1, 1, 0};
    if (model == "gpt2" || model == "bert") request.token_type_ids = {1, 0, 1, 1, 1, 0};
    client::EmbedRequest embed = {.model = model, .ids = request.ids, .batch_size = 2, .sequence_length = 3};
    embed.attention_mask = request.attention_mask;
    embed.token_type_ids = request.token_type_ids;
    ASSERT_OK_AND_ASSIGN(const client::Embedding embedding, client_->Embed(embed));
    ASSERT_OK_AND_ASSIGN(const std::span<const float> all, embedding.As<float>());
    for (std::int64_t cell = 0; cell < 6; ++cell) {
      SCOPED_TRACE(absl::StrCat(model, " ", cell));
      request.batch_index = cell / 3;
      request.sequence_index = cell % 3;

      ASSERT_OK_AND_ASSIGN(const client::CellExplanation explained, client_->ExplainCell(request));

      const auto row = all.begin() + cell * 64;
      EXPECT_EQ(explained.embedding, std::vector<float>(row, row + 64));
      EXPECT_EQ(explained.model, model);
    }
  }
}

TEST_F(PositionsAndCells, CellOfBertTellsEverything) {
  const client::ExplainCellRequest request = {.model = "bert",
                                              .ids = {7, 8, 9, 10},
                                              .position_offsets = {0, 5},
                                              .token_type_ids = {0, 0, 0, 1},
                                              .row_lengths = {2, 2},
                                              .attention_mask = {1, 1, 1, 0},
                                              .batch_index = 1,
                                              .sequence_index = 1};

  ASSERT_OK_AND_ASSIGN(const client::CellExplanation cell, client_->ExplainCell(request));

  EXPECT_EQ(cell.model_version, "1");
  EXPECT_EQ(cell.id, 10);
  EXPECT_EQ(cell.token_row, 10);
  EXPECT_EQ(cell.token, "");
  EXPECT_EQ(cell.token_type, 1);
  EXPECT_EQ(cell.position, 1) << "that of masked cells";
  EXPECT_EQ(cell.position_row, 1);
  EXPECT_TRUE(cell.position_before_type);
  EXPECT_TRUE(cell.zeroed);
  double mean = 0;
  for (std::size_t d = 0; d < 64; ++d) {
    EXPECT_EQ(cell.sum[d], cell.token_values[d] + cell.position_values[d] + cell.token_type_values[d]);
    mean += static_cast<double>(cell.sum[d]) / 64;
    EXPECT_EQ(cell.layer_norm_weight[d], 1.5f);
    EXPECT_EQ(cell.layer_norm_bias[d], 0.0f);
    EXPECT_EQ(cell.embedding[d], 0.0f);
  }
  EXPECT_NEAR(cell.layer_norm_mean.value(), mean, 1e-15);
  EXPECT_GT(cell.layer_norm_variance.value(), 0);
  EXPECT_EQ(cell.layer_norm_eps, 1e-12);
}

TEST_F(PositionsAndCells, CellTellsScalePositionAndWord) {
  ASSERT_OK_AND_ASSIGN(const client::CellExplanation opt,
                       client_->ExplainCell({.model = "opt", .ids = {999, 6}, .batch_size = 1, .sequence_length = 2}));
  ASSERT_OK_AND_ASSIGN(const client::CellExplanation queen,
                       client_->ExplainCell({.model = "words", .ids = {1}, .batch_size = 1, .sequence_length = 1}));

  EXPECT_EQ(opt.id, 999);
  EXPECT_EQ(opt.token_row, std::nullopt);
  EXPECT_EQ(opt.token_scale, 8);
  EXPECT_EQ(opt.position, 0);
  EXPECT_EQ(opt.position_row, 2);
  EXPECT_EQ(queen.token, "queen");
  EXPECT_THAT(queen.token_values, ElementsAre(3, 4));
  EXPECT_EQ(queen.position, std::nullopt);
  EXPECT_EQ(queen.token_type, std::nullopt);
  EXPECT_EQ(queen.layer_norm_eps, std::nullopt);
  EXPECT_THAT(queen.position_values, IsEmpty());
}

TEST_F(PositionsAndCells, CellsAreRefusedAsBatchesAre) {
  client::ExplainCellRequest request = {
      .model = "demo-learned", .ids = {1, 320}, .batch_size = 1, .sequence_length = 2, .sequence_index = 2};
  EXPECT_THAT(client_->ExplainCell(request),
              AllOf(StatusIs(kInvalid, HasSubstr("ids[0][1] = 320")), ReasonIs("ID_OUT_OF_RANGE")));
  request.ids = {1, 2};
  EXPECT_THAT(client_->ExplainCell(request),
              AllOf(StatusIs(kInvalid, "sequence_index = 2 is outside [0, 2) of row 0"), ReasonIs("INVALID_OPTION")));
  request.model = "x";
  EXPECT_THAT(client_->ExplainCell(request), ReasonIs("MODEL_NOT_FOUND"));
}

TEST_F(PositionsAndCells, WavelengthsOfWidth64AreTheLessons) {
  ASSERT_OK_AND_ASSIGN(const auto model, client_->PositionWavelengths({.model = "demo-sinusoidal"}));
  ASSERT_OK_AND_ASSIGN(const auto formula, client_->PositionWavelengths({.sinusoidal = {{.embedding_dim = 64}}}));

  EXPECT_EQ(model.model, "demo-sinusoidal");
  EXPECT_EQ(model.dim, 64);
  EXPECT_EQ(model.base, 10000);
  EXPECT_THAT(model.wavelengths, SizeIs(32));
  EXPECT_NEAR(model.shortest, 6.283185, 1e-6);
  EXPECT_NEAR(model.longest, 47117.243, 1e-3);
  EXPECT_NEAR(model.ratio, 1.333521, 1e-6);
  EXPECT_EQ(model.max_context_length, 128);
  EXPECT_EQ(model.full_turns, 11);
  EXPECT_EQ(formula.model, "");
  EXPECT_EQ(formula.wavelengths, model.wavelengths);
  EXPECT_EQ(formula.max_context_length, std::nullopt);
  EXPECT_EQ(formula.full_turns, 32);
}

TEST_F(PositionsAndCells, WavelengthsFollowBaseLayoutAndRotaryParameters) {
  ASSERT_OK_AND_ASSIGN(const auto half, client_->PositionWavelengths({.model = "half"}));
  ASSERT_OK_AND_ASSIGN(const auto t2t, client_->PositionWavelengths({.model = "t2t"}));
  ASSERT_OK_AND_ASSIGN(const auto sliding, client_->PositionWavelengths({.model = "layers", .layer_type = "sliding"}));
  client::RotaryParameters parameters = {.head_dim = 4};
  parameters.scaling =
      client::RotaryScaling{.type = "dynamic", .factor = 2.0, .max_position_embeddings = std::int64_t{2048}};
  ASSERT_OK_AND_ASSIGN(const auto alone, client_->PositionWavelengths({.rotary = parameters}));
  ASSERT_OK_AND_ASSIGN(const auto stretched,
                       client_->PositionWavelengths({.rotary = parameters, .scaling_length = 4096}));

  EXPECT_NEAR(half.frequencies[16], std::pow(500, -0.5), 1e-15);
  EXPECT_NEAR(t2t.frequencies[31], 1e-4, 1e-15);
  EXPECT_EQ(sliding.base, 100);
  EXPECT_NEAR(sliding.frequencies[2], 0.1, 1e-15);
  EXPECT_NEAR(alone.frequencies[1], 0.01, 1e-15);
  EXPECT_NEAR(stretched.frequencies[1], 0.01 / 3, 1e-15) << "the base times 3 squared";
}

TEST_F(PositionsAndCells, WavelengthsRefuseWhatHasNone) {
  const auto refusal = [](const client::PositionWavelengthsRequest& request) {
    const auto result = client_->PositionWavelengths(request);
    EXPECT_THAT(result, AllOf(StatusIs(kInvalid, ::testing::_), ReasonIs("INVALID_OPTION")));
    return std::string(result.status().message());
  };
  const client::SinusoidalFormula formula = {.embedding_dim = 8};

  EXPECT_EQ(refusal({}), "give exactly one of model, sinusoidal and rotary, got none");
  EXPECT_EQ(refusal({.model = "half", .sinusoidal = formula}),
            "give exactly one of model, sinusoidal and rotary, got 2");
  EXPECT_EQ(refusal({.layer_type = "sliding", .sinusoidal = formula}), "model_version and layer_type need a model");
  EXPECT_EQ(refusal({.model = "half", .layer_type = "sliding"}),
            "model \"half\" has no layer_type \"sliding\"; it has none");
  EXPECT_EQ(refusal({.model = "layers", .scaling_length = 0}), "scaling_length must be from 1 to 16777216, got 0");
  EXPECT_EQ(refusal({.sinusoidal = {{.embedding_dim = 7}}}),
            "sinusoidal.embedding_dim must be even and from 2 to 65536, got 7");
  EXPECT_THAT(refusal({.sinusoidal = {{.embedding_dim = 8, .base = -1.0}}}),
              HasSubstr("sinusoidal: base must be finite and > 0, got -1"));
  EXPECT_THAT(refusal({.sinusoidal = {{.embedding_dim = 2, .tensor2tensor = true}}}), HasSubstr("must not be 2 or 3"));
  EXPECT_THAT(refusal({.rotary = {{.head_dim = 7}}}), HasSubstr("head_dim"));
  EXPECT_THAT(client_->PositionWavelengths({.model = "demo-learned"}),
              AllOf(StatusIs(kFailed,
                             "the positions of model \"demo-learned\" have no wavelengths; its position "
                             "encoding is learned"),
                    ReasonIs("NO_WAVELENGTHS")));
  EXPECT_THAT(client_->PositionWavelengths({.model = "x"}), ReasonIs("MODEL_NOT_FOUND"));
}

// The lesson: a shift is a rotation for sinusoidal positions, and nothing linear for learned ones at their start.
TEST_F(PositionsAndCells, ShiftIsARotationForSinusoidsOnly) {
  ASSERT_OK_AND_ASSIGN(const auto sinusoidal, client_->ShiftProperty({.model = "demo-sinusoidal"}));
  ASSERT_OK_AND_ASSIGN(const auto learned, client_->ShiftProperty({.model = "demo-learned"}));
  ASSERT_OK_AND_ASSIGN(const auto formula,
                       client_->ShiftProperty({.sinusoidal = {{.embedding_dim = 64}}, .offset = 5}));

  EXPECT_TRUE(sinusoidal.is_rotation);
  EXPECT_LT(sinusoidal.max_residual, 1e-6);
  EXPECT_EQ(sinusoidal.model, "demo-sinusoidal");
  EXPECT_EQ(sinusoidal.rows, 128);
  EXPECT_EQ(sinusoidal.offset, 1);
  EXPECT_FALSE(learned.is_rotation);
  EXPECT_GT(learned.max_residual, 0.01);
  EXPECT_LT(learned.rms_residual, learned.max_residual);
  EXPECT_TRUE(formula.is_rotation);
  EXPECT_LT(formula.max_residual, 1e-6);
  EXPECT_EQ(formula.offset, 5);
  EXPECT_EQ(formula.model, "");
}

TEST_F(PositionsAndCells, ShiftTakesEveryLayoutAndLooksAtPositionsOnly) {
  ASSERT_OK_AND_ASSIGN(const auto half, client_->ShiftProperty({.model = "half", .offset = 3}));
  ASSERT_OK_AND_ASSIGN(const auto t2t, client_->ShiftProperty({.model = "t2t"}));

  EXPECT_LT(half.max_residual, 1e-6);
  EXPECT_EQ(half.rows, 16);
  EXPECT_LT(t2t.max_residual, 1e-6) << "the padding's row of zeros is no position";
  EXPECT_EQ(t2t.rows, 512);
}

TEST_F(PositionsAndCells, ShiftRefusesWhatCannotBeShifted) {
  EXPECT_THAT(client_->ShiftProperty({.model = "demo-rotary"}), ReasonIs("NO_POSITION_TABLE"));
  EXPECT_THAT(client_->ShiftProperty({.model = "half", .sinusoidal = {{.embedding_dim = 8}}}),
              AllOf(StatusIs(kInvalid, "give exactly one of model and sinusoidal"), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(client_->ShiftProperty({.sinusoidal = {{.embedding_dim = 8}}, .model_version = "1"}),
              StatusIs(kInvalid, "model_version needs a model"));
  EXPECT_THAT(client_->ShiftProperty({.model = "half", .max_context_length = 17}),
              StatusIs(kInvalid, "max_context_length must be from offset + 1 to 16, got 17"));
  EXPECT_THAT(client_->ShiftProperty({.sinusoidal = {{.embedding_dim = 3}}}),
              StatusIs(kInvalid, HasSubstr("sinusoidal.embedding_dim must be even")));
  EXPECT_THAT(client_->ShiftProperty({.model = "x"}), ReasonIs("MODEL_NOT_FOUND"));
}

// A fit of 512 columns to 8191 rows takes seconds.
TEST(ShiftProperty, EndsAtItsDeadline) {
  config::ServerConfig config;
  config.models = {testing::SmallModel("wide", 1, 512, 8192)};
  const testing::ServedModels served(config);

  EXPECT_THAT(served.TcpClient().ShiftProperty({.model = "wide", .max_context_length = 8192},
                                               {.timeout = absl::Milliseconds(100)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded, ::testing::_));
}

}  // namespace
}  // namespace embd
