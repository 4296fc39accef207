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
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// A folder of `model_type` with heads of 16 elements, whose config.json holds `more` besides.
absl::StatusOr<InferredModel> Infer(const std::string& more, const std::string& model_type = "llama") {
  const ModelFolder folder(absl::StrCat(R"({"model_type":")", model_type,
                                        R"(","num_attention_heads":4,"max_position_embeddings":8192,)", more, "}"),
                           {{"model.embed_tokens.weight", {10, 64}}});
  return folder.Infer();
}

std::string RotaryOf(const absl::StatusOr<InferredModel>& inferred) {
  if (!inferred.ok()) return std::string(inferred.status().message());
  return Summary(std::get<config::RotaryPositions>(*inferred->model.position));
}

TEST(RotarySettings, LinearScalingUnderTheOldKey) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"type":"linear","factor":4})")),
            "rotary 16/16 theta 10000 half linear( factor 4 )");
}

TEST(RotarySettings, TheNewKeyOfTheTypeWeighsMore) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"type":"dynamic","rope_type":"linear","factor":4.0})")),
            "rotary 16/16 theta 10000 half linear( factor 4 )");
}

TEST(RotarySettings, NtkScaling) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"type":"ntk","factor":2})")),
            "rotary 16/16 theta 10000 half ntk( factor 2 )");
}

TEST(RotarySettings, DynamicScalingStartsAtTheLengthTrainedFor) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"type":"dynamic","factor":2})")),
            "rotary 16/16 theta 10000 half dynamic( factor 2 max 8192 )");
}

// Llama 3.1's config.json, which older loaders refused since they knew two fields only.
TEST(RotarySettings, Llama3ScalingHasFiveFields) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_theta":500000.0,"rope_scaling":{"factor":8.0,"low_freq_factor":1.0,
                              "high_freq_factor":4.0,"original_max_position_embeddings":4096,"rope_type":"llama3"})")),
            "rotary 16/16 theta 500000 half llama3( factor 8 original 4096 low 1 high 4 )");
}

// The formula for what is left out is the encoding's: ramp from 32 to 1, 0.1 ln(factor) + 1.
TEST(RotarySettings, YarnWithoutAttentionFactorAndBetasLeavesThemUnset) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"type":"yarn","factor":4.0,"original_max_position_embeddings":2048})")),
            "rotary 16/16 theta 10000 half yarn( factor 4 original 2048 max 8192 )");
}

TEST(RotarySettings, YarnOfDeepseekWithItsMscales) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"type":"yarn","factor":40,"original_max_position_embeddings":4096,
                              "beta_fast":32,"beta_slow":1,"mscale":0.707,"mscale_all_dim":0.707,"truncate":false})",
                           "deepseek_v2")),
            "rotary 64/64 theta 10000 interleaved yarn( factor 40 original 4096 fast 32 slow 1 mscale 0.707 all_dim "
            "0.707 truncate 0 max 8192 )");
}

TEST(RotarySettings, LongRopeTakesTheOriginalLengthFromBeside) {
  EXPECT_EQ(RotaryOf(Infer(R"("original_max_position_embeddings":4096,"rope_scaling":{"type":"su",
                              "short_factor":[1,1,1,1,1,1,1,1],"long_factor":[2,2,2,2,2,2,2,2.5]})",
                           "phi3")),
            "rotary 16/16 theta 10000 half longrope( original 4096 max 8192 short 1,1,1,1,1,1,1,1 long "
            "2,2,2,2,2,2,2,2.5 )");
}

TEST(RotarySettings, YarnMeansLongRopeInFilesOfPhi3) {
  EXPECT_THAT(RotaryOf(Infer(R"("rope_scaling":{"type":"yarn","short_factor":[1],"long_factor":[2]})", "phi3")),
              HasSubstr("longrope( original 4096 max 8192 short 1 long 2 )"));
}

TEST(RotarySettings, DefaultScalingIsNone) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"rope_type":"default"})")), "rotary 16/16 theta 10000 half");
}

TEST(RotarySettings, ParametersOfTheNewFormHoldThetaAndShare) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_theta":7,"rope_parameters":{"rope_type":"linear","factor":2.0,"rope_theta":5e5,
                              "partial_rotary_factor":0.5})")),
            "rotary 8/16 theta 500000 half linear( factor 2 )");
}

TEST(RotarySettings, OldScalingWeighsMoreThanNewParameters) {
  EXPECT_EQ(RotaryOf(Infer(R"("rope_scaling":{"type":"linear","factor":3},"rope_parameters":{"rope_theta":5e5})")),
            "rotary 16/16 theta 10000 half linear( factor 3 )");
}

TEST(RotarySettings, ParametersMayHaveAnObjectForEachLayerType) {
  EXPECT_EQ(
      RotaryOf(Infer(R"("rope_parameters":{"full_attention":{"rope_type":"linear","factor":2,"rope_theta":1e6},
                              "sliding_attention":{"rope_theta":1e4}})")),
      "rotary 16/16 theta 1e+06 half linear( factor 2 ), full_attention 16/16 theta 1e+06 half linear( factor 2 ), "
      "sliding_attention 16/16 theta 10000 half default( )");
}

// 80 · 0.4 is 32 in double, 10 · 0.7 a little less than 7: the product is cut.
TEST(RotarySettings, TheShareThatIsTurnedIsCutToAWholeNumber) {
  EXPECT_EQ(RotaryOf(Infer(R"("head_dim":80,"partial_rotary_factor":0.4)")), "rotary 32/80 theta 10000 half");
  EXPECT_EQ(RotaryOf(Infer(R"("head_dim":29,"partial_rotary_factor":0.3)")), "rotary 8/29 theta 10000 half");
}

TEST(RotarySettings, Gemma3WithoutScalingIsNotScaled) {
  EXPECT_EQ(RotaryOf(Infer(R"("head_dim":16)", "gemma3_text")),
            "rotary 16/16 theta 1e+06 half, full_attention 16/16 theta 1e+06 half, sliding_attention 16/16 theta 10000 "
            "half");
}

TEST(RotarySettings, ModernBertWithoutALocalThetaTakesTheGlobalOne) {
  const ModelFolder folder(
      R"({"model_type":"modernbert","num_attention_heads":4,"local_rope_theta":null,
                               "global_rope_theta":16e4,"pad_token_id":0})",
      {{"model.embeddings.tok_embeddings.weight", {10, 64}}, {"model.embeddings.norm.weight", {64}}});

  EXPECT_EQ(RotaryOf(folder.Infer()),
            "rotary 16/16 theta 160000 half, full_attention 16/16 theta 160000 half, sliding_attention 16/16 theta "
            "160000 half");
}

TEST(RotarySettings, AMissingFieldIsNamed) {
  EXPECT_THAT(
      Infer(R"("rope_scaling":{"rope_type":"linear"})"),
      StatusIs(kInvalid, HasSubstr("config.json: rope_scaling.factor is missing; rope_type \"linear\" needs it")));
  EXPECT_THAT(Infer(R"("rope_scaling":{"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4})"),
              StatusIs(kInvalid, HasSubstr("rope_scaling.original_max_position_embeddings is missing")));
  EXPECT_THAT(Infer(R"("rope_scaling":{"rope_type":"longrope","short_factor":[1]})"),
              StatusIs(kInvalid, HasSubstr("rope_scaling.long_factor is missing")));
}

TEST(RotarySettings, AnUnknownTypeIsRefusedWithThoseThereAre) {
  EXPECT_THAT(Infer(R"("rope_scaling":{"rope_type":"mrope","factor":8})"),
              StatusIs(absl::StatusCode::kUnimplemented,
                       AllOf(HasSubstr("config.json: rope_scaling.rope_type: \"mrope\" is not served"),
                             HasSubstr("linear, ntk, dynamic, yarn, longrope, llama3, proportional"),
                             HasSubstr("position: { rotary: { scaling: { type: … } } }"))));
}

TEST(RotarySettings, AFieldThatTheTypeDoesNotTakeIsNoted) {
  const auto inferred =
      Infer(R"("rope_scaling":{"type":"linear","factor":2,"finetuned":true,"attention_factor":null})");

  ASSERT_THAT(inferred, IsOk());
  EXPECT_THAT(inferred->notes,
              ::testing::ElementsAre(HasSubstr("config.json: rope_scaling.finetuned = true is not used")));
}

TEST(RotarySettings, AFieldOfAWrongTypeIsRefused) {
  EXPECT_THAT(Infer(R"("rope_scaling":{"type":"linear","factor":"2"})"),
              StatusIs(kInvalid, HasSubstr("config.json: rope_scaling.factor: must be a finite number, got \"2\"")));
  EXPECT_THAT(Infer(R"("rope_scaling":{"type":"longrope","short_factor":[1,"x"],"long_factor":[1,2]})"),
              StatusIs(kInvalid, HasSubstr("rope_scaling.short_factor: must be a list of finite numbers, got a list")));
  EXPECT_THAT(Infer(R"("rope_scaling":"linear")"),
              StatusIs(kInvalid, HasSubstr("config.json: rope_scaling: must be an object, got \"linear\"")));
  EXPECT_THAT(Infer(R"("rope_scaling":{"type":"yarn","factor":2,"truncate":1})"),
              StatusIs(kInvalid, HasSubstr("rope_scaling.truncate: must be true or false, got 1")));
}

TEST(RotarySettings, AWidthThatCannotBeTurnedIsRefused) {
  EXPECT_THAT(Infer(R"("head_dim":15)"), StatusIs(kInvalid, HasSubstr("head_dim is 15")));
  EXPECT_THAT(Infer(R"("partial_rotary_factor":1.5)"), StatusIs(kInvalid, HasSubstr("1.5")));
  EXPECT_THAT(Infer(R"("partial_rotary_factor":0.01)"), StatusIs(kInvalid, HasSubstr("0.01")));
}

TEST(RotarySettings, ALayerTypeThatIsMissingIsNamed) {
  EXPECT_THAT(Infer(R"("rope_parameters":{"full_attention":{"rope_theta":1e6}})", "gemma3_text"),
              StatusIs(kInvalid, HasSubstr("config.json: rope_parameters.sliding_attention is missing")));
}

TEST(RotarySettings, EachValueHasItsSource) {
  const auto inferred = Infer(R"("rope_theta":500000.0,"head_dim":32)");

  ASSERT_THAT(inferred, IsOk());
  EXPECT_THAT(inferred->inferred_from,
              AllOf(Contains(InferredValue{"position.rotary.theta", "500000", "config.json: rope_theta = 500000.0"}),
                    Contains(InferredValue{"position.rotary.head_dim", "32", "config.json: head_dim = 32"}),
                    Contains(InferredValue{"position.rotary.rotary_dim", "32", "class default"}),
                    Contains(InferredValue{"position.rotary.pairing", "half", "model_type llama"})));
  EXPECT_THAT(inferred->notes, IsEmpty());
}

}  // namespace
}  // namespace embd::architectures
