#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/config/load.h"
#include "tests/support/status_matchers.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kTokensFromDisk[] = "{ file: t.npy }";
constexpr char kTokensOfSeed11[] = "{ seeded: { vocab_size: 8, embedding_dim: 4, seed: 11 } }";
constexpr char kTokensOfWidth5[] = "{ seeded: { vocab_size: 8, embedding_dim: 5 } }";

using Position = Positions;

absl::StatusOr<Position> ParsePosition(absl::string_view position, absl::string_view token = kTokensFromDisk) {
  auto config =
      ParseYaml(absl::StrCat("models: [{ name: m, token: ", token, ", position: ", position, " }]"), "c/e.yaml");
  if (!config.ok()) return config.status();
  return config->models.at(0).position.value();
}

TEST(PositionSetting, NoneIsAWordOrAMap) {
  for (const char* none : {"none", "{ none: {} }"}) {
    ASSERT_OK_AND_ASSIGN(const Position position, ParsePosition(none));
    EXPECT_EQ(position, Position(NoPositions{})) << none;
  }
}

TEST(PositionSetting, NoneTakesNoKeys) {
  EXPECT_THAT(ParsePosition("{ none: { base: 1 } }"),
              StatusIs(kInvalid, HasSubstr("position.none: unknown key \"base\"; no key is allowed here")));
}

TEST(PositionSetting, OtherWordsAreRefused) {
  EXPECT_THAT(ParsePosition("sinusoidal"),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].position: must be none, or a map of one of none, learned, "
                       "sinusoidal, rotary, got \"sinusoidal\""));
  EXPECT_THAT(ParsePosition("[none]"), StatusIs(kInvalid, HasSubstr("got a list")));
}

TEST(PositionSetting, HoldsOneKindOnly) {
  EXPECT_THAT(ParsePosition("{}"), StatusIs(kInvalid, HasSubstr("must hold one of")));
  EXPECT_THAT(ParsePosition("{ rotary: {}, none: {} }"), StatusIs(kInvalid, HasSubstr("got none and rotary")));
  EXPECT_THAT(ParsePosition("{ alibi: {} }"), StatusIs(kInvalid, HasSubstr("unknown key \"alibi\"")));
}

TEST(LearnedSetting, SeedIsThatOfTheTokenTable) {
  ASSERT_OK_AND_ASSIGN(const Position position,
                       ParsePosition("{ learned: { seeded: { max_context_length: 6 } } }", kTokensOfSeed11));

  EXPECT_EQ(position, Position(LearnedPositions{SeededPositions{.max_context_length = 6, .rows = {.seed = 11}}}));
}

TEST(LearnedSetting, SeedIsZeroBesideATokenTableOnDisk) {
  ASSERT_OK_AND_ASSIGN(const Position position, ParsePosition("{ learned: { seeded: { max_context_length: 6 } } }"));

  EXPECT_EQ(position, Position(LearnedPositions{SeededPositions{.max_context_length = 6, .rows = {.seed = 0}}}));
}

TEST(LearnedSetting, SeedIsFoundWhereTheTokenTableComesLater) {
  ASSERT_OK_AND_ASSIGN(
      const ServerConfig config,
      ParseYaml(
          absl::StrCat("models: [{ name: m, position: { learned: { seeded: { max_context_length: 6 } } }, token: ",
                       kTokensOfSeed11, " }]"),
          "e.yaml"));

  const auto& learned = std::get<LearnedPositions>(*config.models.at(0).position);
  EXPECT_EQ(std::get<SeededPositions>(learned.source).rows.seed, 11);
}

TEST(LearnedSetting, OwnSeedAndDistributionWin) {
  ASSERT_OK_AND_ASSIGN(
      const Position position,
      ParsePosition("{ learned: { seeded: { max_context_length: 6, mean: 1, std: 2, seed: 3 } } }", kTokensOfSeed11));

  EXPECT_EQ(position, Position(LearnedPositions{
                          SeededPositions{.max_context_length = 6, .rows = {.mean = 1.0, .std = 2.0, .seed = 3}}}));
}

TEST(LearnedSetting, MayComeFromAFile) {
  ASSERT_OK_AND_ASSIGN(const Position position, ParsePosition("{ learned: { file: p.npy, tensor: wpe } }"));

  const auto& file = std::get<TableFile>(std::get<LearnedPositions>(position).source);
  EXPECT_EQ(file.path, "c/p.npy");
  EXPECT_EQ(file.tensor, "wpe");
}

TEST(LearnedSetting, NeedsOneSource) {
  EXPECT_THAT(ParsePosition("{ learned: {} }"),
              StatusIs(kInvalid, HasSubstr("position.learned: file or seeded is missing")));
  EXPECT_THAT(ParsePosition("{ learned: { file: a, seeded: { max_context_length: 1 } } }"),
              StatusIs(kInvalid, HasSubstr("position.learned.file: does not go with seeded")));
}

TEST(LearnedSetting, HasNoVocabulary) {
  EXPECT_THAT(ParsePosition("{ learned: { file: a, vocabulary: v } }"),
              StatusIs(kInvalid, HasSubstr("position.learned: unknown key \"vocabulary\"")));
}

TEST(LearnedSetting, NeedsAContextLengthThatFits) {
  EXPECT_THAT(ParsePosition("{ learned: { seeded: {} } }"),
              StatusIs(kInvalid, HasSubstr("position.learned.seeded: max_context_length is missing")));
  EXPECT_THAT(ParsePosition("{ learned: { seeded: { max_context_length: 0 } } }"),
              StatusIs(kInvalid, HasSubstr("max_context_length: must be an integer >= 1, got \"0\"")));
  EXPECT_THAT(
      ParsePosition("{ learned: { seeded: { max_context_length: 2305843009213693951 } } }", kTokensOfSeed11),
      StatusIs(kInvalid, HasSubstr("max_context_length: must be at most 576460752303423487 with embedding_dim 4")));
}

TEST(SinusoidalSetting, LeavesWhatIsNotSaidUnset) {
  ASSERT_OK_AND_ASSIGN(const Position position, ParsePosition("{ sinusoidal: { max_context_length: 6 } }"));

  EXPECT_EQ(position, Position(SinusoidalPositions{.max_context_length = 6}));
}

TEST(SinusoidalSetting, BaseIsFiniteAndPositive) {
  for (const char* base : {"0", "-1", ".inf", "x"}) {
    EXPECT_THAT(
        ParsePosition(absl::StrCat("{ sinusoidal: { max_context_length: 6, base: ", base, " } }")),
        StatusIs(kInvalid, absl::StrCat("c/e.yaml:1: models[0].position.sinusoidal.base: must be a finite number > "
                                        "0, got \"",
                                        base, "\"")));
  }
}

TEST(SinusoidalSetting, NeedsAnEvenWidthWhereItIsKnown) {
  EXPECT_THAT(ParsePosition("{ sinusoidal: { max_context_length: 6 } }", kTokensOfWidth5),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].position.sinusoidal: embedding_dim must be even for sinusoidal, "
                       "got 5"));
}

TEST(RotarySetting, HasDefaultsForAll) {
  ASSERT_OK_AND_ASSIGN(const Position position, ParsePosition("{ rotary: {} }"));

  EXPECT_EQ(position, Position(RotaryPositions{}));
}

TEST(RotarySetting, TakesAllItsKeys) {
  ASSERT_OK_AND_ASSIGN(const Position position,
                       ParsePosition("{ rotary: { theta: 5e5, head_dim: 64, rotary_dim: 32, pairing: interleaved } }"));

  EXPECT_EQ(position, Position(RotaryPositions{.head_dim = 64, .rotary_dim = 32, .theta = 5e5, .interleaved = true}));
}

TEST(RotarySetting, ScalingTakesAllItsKeys) {
  ASSERT_OK_AND_ASSIGN(
      const Position position,
      ParsePosition(
          "{ rotary: { scaling: { type: yarn, factor: 4, original_max_position_embeddings: 8, "
          "max_position_embeddings: 32, low_freq_factor: 1, high_freq_factor: 2, beta_fast: 16, beta_slow: 0, "
          "attention_factor: 1.5, mscale: 1, mscale_all_dim: 0.5, truncate: false, short_factor: [1, 2], "
          "long_factor: [3, 4.5] } } }"));

  const RotaryScalingConfig expected = {.type = "yarn",
                                        .factor = 4,
                                        .original_max_position_embeddings = 8,
                                        .low_freq_factor = 1,
                                        .high_freq_factor = 2,
                                        .beta_fast = 16,
                                        .beta_slow = 0,
                                        .attention_factor = 1.5,
                                        .mscale = 1,
                                        .mscale_all_dim = 0.5,
                                        .truncate = false,
                                        .max_position_embeddings = 32,
                                        .short_factor = {1, 2},
                                        .long_factor = {3, 4.5}};
  EXPECT_EQ(position, Position(RotaryPositions{.scaling = expected}));
}

TEST(RotarySetting, ScalingTypeGoesByItsNewerNameToo) {
  EXPECT_EQ(*ParsePosition("{ rotary: { scaling: { rope_type: linear, factor: 2 } } }"),
            *ParsePosition("{ rotary: { scaling: { type: linear, factor: 2 } } }"));
  EXPECT_THAT(ParsePosition("{ rotary: { scaling: { rope_type: linear, type: yarn } } }"),
              StatusIs(kInvalid, HasSubstr("scaling.rope_type: contradicts type \"yarn\", got \"linear\"")));
}

TEST(RotarySetting, UnknownScalingIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(
      ParsePosition("{ rotary: { scaling: { type: xpos } } }"),
      StatusIs(kInvalid, HasSubstr("scaling.type: must be one of default, linear, ntk, dynamic, yarn, longrope, "
                                   "su, llama3, proportional, got \"xpos\"")));
}

TEST(RotarySetting, ScalingRefusesWrongTypes) {
  EXPECT_THAT(ParsePosition("{ rotary: { scaling: { short_factor: 1 } } }"),
              StatusIs(kInvalid, HasSubstr("scaling.short_factor: must be a list of numbers, got \"1\"")));
  EXPECT_THAT(ParsePosition("{ rotary: { scaling: { short_factor: [1, x] } } }"),
              StatusIs(kInvalid, HasSubstr("scaling.short_factor[1]: must be a finite number > 0, got \"x\"")));
  EXPECT_THAT(ParsePosition("{ rotary: { scaling: { truncate: yes } } }"),
              StatusIs(kInvalid, HasSubstr("scaling.truncate: must be true or false, got \"yes\"")));
  EXPECT_THAT(ParsePosition("{ rotary: { scaling: { factor: 0 } } }"),
              StatusIs(kInvalid, HasSubstr("scaling.factor: must be a finite number > 0, got \"0\"")));
  EXPECT_THAT(ParsePosition("{ rotary: { scaling: { factr: 2 } } }"),
              StatusIs(kInvalid, HasSubstr("did you mean factor?")));
}

TEST(RotarySetting, LayerTypesHaveSettingsOfTheirOwn) {
  ASSERT_OK_AND_ASSIGN(
      const Position position,
      ParsePosition("{ rotary: { theta: 1e6, layer_types: { sliding_attention: { theta: 1e4, scaling: { "
                    "type: linear, factor: 8 } }, full_attention: {} } } }"));

  const RotaryPositions expected = {
      .theta = 1e6,
      .layer_types = {
          {"sliding_attention", {.theta = 1e4, .scaling = RotaryScalingConfig{.type = "linear", .factor = 8}}},
          {"full_attention", {}}}};
  EXPECT_EQ(position, Position(expected));
}

TEST(RotarySetting, LayerTypesAreNamedOnceAndAreMaps) {
  EXPECT_THAT(ParsePosition("{ rotary: { layer_types: { a: {}, a: {} } } }"),
              StatusIs(kInvalid, HasSubstr("layer_types.a: given twice")));
  EXPECT_THAT(ParsePosition("{ rotary: { layer_types: [a] } }"),
              StatusIs(kInvalid, HasSubstr("layer_types: must be a map of maps by name, got a list")));
  EXPECT_THAT(ParsePosition("{ rotary: { layer_types: { a: { thetas: 1 } } } }"),
              StatusIs(kInvalid, HasSubstr("layer_types.a: unknown key \"thetas\"; did you mean theta?")));
}

TEST(RotarySetting, HeadDimIsEvenUnlessAPartOfItIsTurned) {
  EXPECT_THAT(ParsePosition("{ rotary: { head_dim: 3 } }"),
              StatusIs(kInvalid, HasSubstr("rotary.head_dim: must be even, got 3")));
  EXPECT_THAT(ParsePosition("{ rotary: { head_dim: 3, rotary_dim: 2 } }"), testing::IsOk());
  EXPECT_THAT(ParsePosition("{ rotary: { head_dim: 0 } }"), StatusIs(kInvalid, HasSubstr("must be an integer >= 2")));
}

TEST(RotarySetting, RotaryDimIsEvenAndNoWiderThanTheHead) {
  EXPECT_THAT(ParsePosition("{ rotary: { rotary_dim: 3 } }"),
              StatusIs(kInvalid, HasSubstr("rotary.rotary_dim: must be even, got 3")));
  EXPECT_THAT(ParsePosition("{ rotary: { head_dim: 4, rotary_dim: 6 } }"),
              StatusIs(kInvalid, HasSubstr("rotary.rotary_dim: must be at most head_dim 4, got 6")));
}

TEST(RotarySetting, NeedsAnEvenWidthWhereItStandsForHeadDim) {
  EXPECT_THAT(ParsePosition("{ rotary: {} }", kTokensOfWidth5),
              StatusIs(kInvalid, HasSubstr("embedding_dim must be even for rotary without head_dim, got 5")));
  EXPECT_THAT(ParsePosition("{ rotary: { head_dim: 4 } }", kTokensOfWidth5), testing::IsOk());
}

TEST(RotarySetting, PairingIsOneOfTwo) {
  EXPECT_THAT(ParsePosition("{ rotary: { pairing: half } }"), testing::IsOk());
  EXPECT_THAT(ParsePosition("{ rotary: { pairing: HALF } }"),
              StatusIs(kInvalid, HasSubstr("rotary.pairing: must be half or interleaved, got \"HALF\"")));
}

TEST(RotarySetting, ThetaIsPositive) {
  EXPECT_THAT(ParsePosition("{ rotary: { theta: 0 } }"),
              StatusIs(kInvalid, HasSubstr("rotary.theta: must be a finite number > 0, got \"0\"")));
}

}  // namespace
}  // namespace embd::config
