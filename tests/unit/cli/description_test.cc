#include "client/cli/commands/description.h"

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

client::ModelDescription Opt() {
  return {.name = "opt",
          .version = "1",
          .generation = 1,
          .position_encoding = client::PositionEncoding::kLearned,
          .max_context_length = 2048,
          .inferred_from = {{.key = "position.row_offset", .value = "2", .source = "model_type opt"},
                            {.key = "token.tensor", .value = "wte", .source = "config.json"}},
          .architecture = "opt",
          .numbering = client::PositionNumbering::kMask,
          .row_offset = 2,
          .padding_idx = 1,
          .token_scale = 22.5,
          .trained_context_length = 2048,
          .has_token_types = true,
          .token_types_only_when_sent = true,
          .layer_norm_eps = 1e-5,
          .zero_masked = true,
          .saturate = true,
          .out_of_range = client::OutOfRangePolicy::kUnk,
          .unk_id = 3,
          .out_of_range_ids = 7,
          .notes = {"its layers project the vectors first"},
          .output_tied = true,
          .output_scale = 0.0625,
          .output_softcap = 30,
          .has_output_bias = true};
}

TEST(DescriptionText, ShowsHowTheInputStageComputes) {
  EXPECT_THAT(DescriptionText(Opt()), HasSubstr("\narchitecture            opt\n"
                                                "numbering               mask\n"
                                                "row offset              2\n"
                                                "padding id              1\n"
                                                "token scale             22.5\n"
                                                "token types             a table of their own, added before positions, "
                                                "only when sent\n"
                                                "layer norm eps          1e-05\n"
                                                "masked cells            zero\n"
                                                "overflow                largest finite value\n"
                                                "ids out of range        row 3, 7 so far\n"
                                                "trained context length  2048\n"
                                                "output projection       token table, scale 0.0625, bias, softcap 30\n"
                                                "note                    its layers project the vectors first\n"));
}

TEST(DescriptionText, EndsWithWhatWasInferred) {
  EXPECT_THAT(DescriptionText(Opt()), ::testing::EndsWith("\n\n"
                                                          "inferred key         value  source\n"
                                                          "position.row_offset  2      model_type opt\n"
                                                          "token.tensor         wte    config.json\n"));
}

TEST(DescriptionText, LeavesOutWhatIsAsUsual) {
  EXPECT_THAT(DescriptionText({.name = "plain", .out_of_range = client::OutOfRangePolicy::kError}),
              AllOf(Not(HasSubstr("numbering")), Not(HasSubstr("scale")), Not(HasSubstr("norm")),
                    Not(HasSubstr("projection")), Not(HasSubstr("range")), Not(HasSubstr("inferred"))));
}

TEST(DescriptionJson, HasEveryField) {
  const json model = DescriptionJson(Opt());

  EXPECT_EQ(model["architecture"], "opt");
  EXPECT_EQ(model["numbering"], "mask");
  EXPECT_EQ(model["row_offset"], 2);
  EXPECT_EQ(model["padding_idx"], 1);
  EXPECT_EQ(model["token_scale"], 22.5);
  EXPECT_TRUE(model["sinusoidal_layout"].is_null());
  EXPECT_EQ(model["trained_context_length"], 2048);
  EXPECT_EQ(model["has_token_types"], true);
  EXPECT_EQ(model["token_types_share_token_table"], false);
  EXPECT_EQ(model["token_types_only_when_sent"], true);
  EXPECT_EQ(model["position_before_type"], false);
  EXPECT_EQ(model["layer_norm_eps"], 1e-5);
  EXPECT_EQ(model["zero_masked"], true);
  EXPECT_EQ(model["saturate"], true);
  EXPECT_EQ(model["out_of_range"], "unk");
  EXPECT_EQ(model["unk_id"], 3);
  EXPECT_EQ(model["out_of_range_ids"], 7);
  EXPECT_EQ(model["output_tied"], true);
  EXPECT_EQ(model["output_scale"], 0.0625);
  EXPECT_EQ(model["output_softcap"], 30);
  EXPECT_EQ(model["has_output_bias"], true);
  EXPECT_EQ(model["notes"], json({"its layers project the vectors first"}));
  EXPECT_EQ(model["inferred_from"][1], json({{"key", "token.tensor"}, {"value", "wte"}, {"source", "config.json"}}));
}

}  // namespace
}  // namespace embd::cli
