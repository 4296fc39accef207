// A path with other keys beside it, and the keys of a model that are single values.
#include <utility>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/one_model.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kTokensFromDisk[] = "token: { file: t.npy }";

TEST(ModelPath, AloneLeavesAllToBeInferred) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel("path: bert"));

  EXPECT_EQ(model, (ModelConfig{.name = "m", .path = "c/bert"}));
}

TEST(ModelPath, MayStandBesideAllOtherKeys) {
  ASSERT_OK_AND_ASSIGN(
      const ModelConfig model,
      ParseOneModel("path: bert, version: 2, side: encoder, padding_idx: 0, sum_order: position_first, "
                    "zero_masked: true, saturate: true, trained_context_length: 512, "
                    "token: { tensor: t, vocabulary: v, scale: 2, out_of_range: zero }, "
                    "token_type: none, layer_norm: none, position: { learned: { tensor: p }, numbering: fixed }"));

  EXPECT_EQ(model, (ModelConfig{.name = "m",
                                .version = "2",
                                .path = "c/bert",
                                .side = Side::kEncoder,
                                .token = TableFile{.tensor = "t", .vocabulary = "c/v"},
                                .token_scale = TokenScale{.factor = 2.0},
                                .out_of_range = OutOfRange{.policy = OutOfRange::Policy::kZero},
                                .token_types = Absent{},
                                .position = LearnedPositions{TableFile{.tensor = "p"}},
                                .numbering = Numbering::kFixed,
                                .padding_idx = 0,
                                .layer_norm = Absent{},
                                .sum_order = SumOrder::kPositionFirst,
                                .zero_masked = true,
                                .saturate = true,
                                .trained_context_length = 512}));
}

TEST(ModelPath, DoesNotGoWithAnotherTokenTable) {
  EXPECT_THAT(ParseOneModel("path: bert, token: { file: t.npy }"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].path: does not go with token.file"));
  EXPECT_THAT(ParseOneModel("path: bert, token: { seeded: { vocab_size: 1, embedding_dim: 1 } }"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].path: does not go with token.seeded"));
}

TEST(ModelPath, GoesWithPositionsFromElsewhere) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig file, ParseOneModel("path: bert, position: { learned: { file: p.npy } }"));
  ASSERT_OK_AND_ASSIGN(const ModelConfig none, ParseOneModel("path: bert, position: none"));

  EXPECT_EQ(file.position, Positions(LearnedPositions{TableFile{.path = "c/p.npy"}}));
  EXPECT_EQ(none.position, Positions(NoPositions{}));
}

TEST(ModelPath, MayLeaveTheSourceOfLearnedPositionsToBeInferred) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel("path: bert, position: { learned: {} }"));

  EXPECT_EQ(model.position, Positions(LearnedPositions{TableFile{}}));
}

TEST(ModelPath, DoesNotMakeAnEmptyPositionMapMeanSomething) {
  EXPECT_THAT(ParseOneModel("path: bert, position: {}"),
              StatusIs(kInvalid, HasSubstr("models[0].position: must hold one of none, learned")));
}

TEST(ModelPath, MustBeAString) {
  EXPECT_THAT(ParseOneModel("path: []"), StatusIs(kInvalid, HasSubstr("models[0].path: must be a string, got a list")));
  EXPECT_THAT(ParseOneModel("path: ''"), StatusIs(kInvalid, HasSubstr("models[0].path: must be a string that is not")));
}

TEST(SideSetting, IsOneOfTwo) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig encoder, ParseOneModel("path: t5, side: encoder"));
  ASSERT_OK_AND_ASSIGN(const ModelConfig decoder, ParseOneModel("path: t5, side: decoder"));
  EXPECT_EQ(encoder.side, Side::kEncoder);
  EXPECT_EQ(decoder.side, Side::kDecoder);

  EXPECT_THAT(ParseOneModel("path: t5, side: left"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].side: must be encoder or decoder, got \"left\""));
}

TEST(SideSetting, NeedsAPath) {
  EXPECT_THAT(ParseOneModel("side: encoder, token: { file: t.npy }"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].side: needs path"));
}

TEST(ModelValues, AreUnsetWhereTheyAreNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel(kTokensFromDisk));

  EXPECT_EQ(model, (ModelConfig{.name = "m", .token = TableFile{.path = "c/t.npy"}}));
}

TEST(ModelValues, AreReadWithoutAPath) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model,
                       ParseOneModel("padding_idx: 3, sum_order: type_first, zero_masked: false, "
                                     "saturate: false, trained_context_length: 1, token: { file: t.npy }"));

  EXPECT_EQ(model.padding_idx, 3);
  EXPECT_EQ(model.sum_order, SumOrder::kTypeFirst);
  EXPECT_EQ(model.zero_masked, false);
  EXPECT_EQ(model.saturate, false);
  EXPECT_EQ(model.trained_context_length, 1);
}

TEST(ModelValues, OutOfRangeAreRefused) {
  const std::pair<const char*, const char*> faults[] = {
      {"padding_idx: -1", "models[0].padding_idx: must be an integer >= 0, got \"-1\""},
      {"padding_idx: none", "models[0].padding_idx: must be an integer >= 0, got \"none\""},
      {"trained_context_length: 0", "models[0].trained_context_length: must be an integer >= 1, got \"0\""},
      {"zero_masked: 1", "models[0].zero_masked: must be true or false, got \"1\""},
      {"saturate: 65504", "models[0].saturate: must be true or false, got \"65504\""},
      {"sum_order: any", "models[0].sum_order: must be type_first or position_first, got \"any\""},
  };
  for (const auto& [keys, message] : faults) {
    EXPECT_THAT(ParseOneModel(absl::StrCat(keys, ", ", kTokensFromDisk)),
                StatusIs(kInvalid, absl::StrCat("c/e.yaml:1: ", message)));
  }
}

}  // namespace
}  // namespace embd::config
