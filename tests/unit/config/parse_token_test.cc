// What the key `token` says beside where the rows come from.
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/one_model.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<ModelConfig> ParseToken(absl::string_view keys) {
  return ParseOneModel(absl::StrCat("token: { file: t.npy, ", keys, " }"));
}

absl::StatusOr<ModelConfig> ParseTokenOf7Rows(absl::string_view keys) {
  return ParseOneModel(absl::StrCat("token: { seeded: { vocab_size: 7, embedding_dim: 4 }, ", keys, " }"));
}

TEST(TokenScaleSetting, IsUnsetWhereItIsNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel("token: { file: t.npy }"));
  EXPECT_EQ(model.token_scale, std::nullopt);
}

TEST(TokenScaleSetting, IsANumberThatIsRoundedToFloat32) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseToken("scale: -12.5"));
  EXPECT_EQ(model.token_scale, (TokenScale{.factor = -12.5}));
}

TEST(TokenScaleSetting, IsTheRootOfTheWidthByItsWord) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseToken("scale: sqrt_dim, scale_rounding: float32"));
  EXPECT_EQ(model.token_scale, (TokenScale{.sqrt_dim = true}));
}

TEST(TokenScaleSetting, IsRoundedToTheStoredTypeWhereAsked) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseToken("scale_rounding: weight_dtype, scale: sqrt_dim"));
  EXPECT_EQ(model.token_scale, (TokenScale{.sqrt_dim = true, .weight_dtype = true}));
}

TEST(TokenScaleSetting, GoesWithSeededRows) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseTokenOf7Rows("scale: 2"));
  EXPECT_EQ(model.token_scale, (TokenScale{.factor = 2.0}));
}

TEST(TokenScaleSetting, OtherThingsAreRefused) {
  for (const char* scale : {"0", "-0.0", ".inf", "nan", "sqrt", "'2'", "1e999"}) {
    EXPECT_THAT(ParseToken(absl::StrCat("scale: ", scale)),
                StatusIs(kInvalid, HasSubstr("c/e.yaml:1: models[0].token.scale: must be sqrt_dim or a finite number "
                                             "other than 0, got \"")))
        << scale;
  }
  EXPECT_THAT(ParseToken("scale: [1]"), StatusIs(kInvalid, HasSubstr("other than 0, got a list")));
}

TEST(TokenScaleSetting, NumberThatFloat32CannotHoldIsRefused) {
  for (const char* scale : {"1e39", "-1e39", "1e-39"}) {
    EXPECT_THAT(ParseToken(absl::StrCat("scale: ", scale)),
                StatusIs(kInvalid, HasSubstr("token.scale: must be of a magnitude from 1.17549e-38 to 3.40282e+38, "
                                             "got \"")))
        << scale;
  }
}

TEST(TokenScaleSetting, RoundingIsOneOfTwo) {
  EXPECT_THAT(ParseToken("scale: 2, scale_rounding: bfloat16"),
              StatusIs(kInvalid, HasSubstr("models[0].token.scale_rounding: must be float32 or weight_dtype, got "
                                           "\"bfloat16\"")));
  EXPECT_THAT(ParseToken("scale: 2, scale_rounding: {}"), StatusIs(kInvalid, HasSubstr("got a map")));
}

TEST(TokenScaleSetting, RoundingAloneIsRefused) {
  EXPECT_THAT(ParseToken("scale_rounding: float32"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].token.scale_rounding: needs scale: there is nothing to round"));
}

TEST(OutOfRangeSetting, IsUnsetWhereItIsNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel("token: { file: t.npy }"));
  EXPECT_EQ(model.out_of_range, std::nullopt);
}

TEST(OutOfRangeSetting, IsAWord) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig error, ParseToken("out_of_range: error"));
  ASSERT_OK_AND_ASSIGN(const ModelConfig zero, ParseToken("out_of_range: zero"));

  EXPECT_EQ(error.out_of_range, (OutOfRange{.policy = OutOfRange::Policy::kError}));
  EXPECT_EQ(zero.out_of_range, (OutOfRange{.policy = OutOfRange::Policy::kZero}));
}

TEST(OutOfRangeSetting, NamesTheRowThatStandsIn) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseToken("out_of_range: { unk: 100 }"));
  EXPECT_EQ(model.out_of_range, (OutOfRange{.policy = OutOfRange::Policy::kUnk, .unk_id = 100}));
}

TEST(OutOfRangeSetting, RowThatStandsInIsOneOfASeededTable) {
  EXPECT_THAT(ParseTokenOf7Rows("out_of_range: { unk: 6 }"), testing::IsOk());
  EXPECT_THAT(ParseTokenOf7Rows("out_of_range: { unk: 7 }"),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].token.out_of_range.unk: must be an integer from 0 to 6, got "
                       "\"7\""));
}

TEST(OutOfRangeSetting, RowThatStandsInIsNotNegative) {
  EXPECT_THAT(ParseToken("out_of_range: { unk: -1 }"),
              StatusIs(kInvalid, HasSubstr("unk: must be an integer >= 0, got \"-1\"")));
}

TEST(OutOfRangeSetting, MapNeedsARow) {
  EXPECT_THAT(ParseToken("out_of_range: {}"),
              StatusIs(kInvalid, HasSubstr("models[0].token.out_of_range: unk is missing")));
  EXPECT_THAT(ParseToken("out_of_range: { id: 1 }"), StatusIs(kInvalid, HasSubstr("unknown key \"id\"")));
}

TEST(OutOfRangeSetting, OtherThingsAreRefused) {
  EXPECT_THAT(ParseToken("out_of_range: unk"),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].token.out_of_range: must be error, zero, or a map of unk, got "
                       "\"unk\""));
  EXPECT_THAT(ParseToken("out_of_range: [zero]"), StatusIs(kInvalid, HasSubstr("a map of unk, got a list")));
}

TEST(DropoutMaskIdSetting, IsOneOfASeededTable) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseTokenOf7Rows("dropout_mask_id: 6"));
  EXPECT_EQ(model.dropout_mask_id, 6);
  EXPECT_THAT(
      ParseTokenOf7Rows("dropout_mask_id: 7"),
      StatusIs(kInvalid, "c/e.yaml:1: models[0].token.dropout_mask_id: must be an integer from 0 to 6, got \"7\""));
  EXPECT_THAT(ParseToken("dropout_mask_id: 7"), testing::IsOk());
}

TEST(DropoutMaskIdSetting, DoesNotGoWithAScale) {
  for (const char* scale : {"2", "sqrt_dim"}) {
    EXPECT_THAT(ParseToken(absl::StrCat("dropout_mask_id: 3, scale: ", scale)),
                StatusIs(kInvalid, "c/e.yaml:1: models[0].token.dropout_mask_id: does not go with scale"))
        << scale;
  }
  EXPECT_THAT(ParseToken("dropout_mask_id: 3, scale: 1"), testing::IsOk());
}

TEST(PaddingIdxSetting, IsOneOfASeededTable) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model,
                       ParseOneModel("padding_idx: 6, token: { seeded: { vocab_size: 7, embedding_dim: 4 } }"));
  EXPECT_EQ(model.padding_idx, 6);
  EXPECT_THAT(ParseOneModel("padding_idx: 7, token: { seeded: { vocab_size: 7, embedding_dim: 4 } }"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].padding_idx: must be an integer from 0 to 6, got \"7\""));
  EXPECT_THAT(ParseOneModel("padding_idx: 7, token: { file: t.npy }"), testing::IsOk());
}

}  // namespace
}  // namespace embd::config
