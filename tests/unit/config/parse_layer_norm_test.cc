#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/one_model.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kTokensFromDisk[] = "token: { file: t.npy }";
constexpr char kFolder[] = "path: bert";

absl::StatusOr<std::variant<Absent, LayerNorm>> ParseNorm(absl::string_view norm,
                                                          absl::string_view token = kTokensFromDisk) {
  auto model = ParseOneModel(absl::StrCat("layer_norm: ", norm, ", ", token));
  if (!model.ok()) return model.status();
  return model->layer_norm.value();
}

TEST(LayerNormSetting, IsUnsetWhereItIsNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel(kTokensFromDisk));
  EXPECT_EQ(model.layer_norm, std::nullopt);
}

TEST(LayerNormSetting, NoneSaysThatThereIsNone) {
  for (const char* token : {kTokensFromDisk, kFolder}) {
    ASSERT_OK_AND_ASSIGN(const auto norm, ParseNorm("none", token));
    EXPECT_TRUE(std::holds_alternative<Absent>(norm)) << token;
  }
}

TEST(LayerNormSetting, NeedsAWeightOnly) {
  ASSERT_OK_AND_ASSIGN(const auto norm, ParseNorm("{ weight: { file: w.npy } }"));

  EXPECT_EQ(std::get<LayerNorm>(norm), (LayerNorm{.weight = TableFile{.path = "c/w.npy"}}));
}

TEST(LayerNormSetting, TakesAllItsKeys) {
  ASSERT_OK_AND_ASSIGN(const auto norm, ParseNorm("{ weight: { file: a.safetensors, tensor: w }, bias: { file: "
                                                  "a.safetensors, tensor: b }, eps: 1e-12 }"));

  EXPECT_EQ(std::get<LayerNorm>(norm), (LayerNorm{.weight = TableFile{.path = "c/a.safetensors", .tensor = "w"},
                                                  .bias = TableFile{.path = "c/a.safetensors", .tensor = "b"},
                                                  .eps = 1e-12}));
}

TEST(LayerNormSetting, FilesMayBeLeftToThePath) {
  ASSERT_OK_AND_ASSIGN(const auto norm, ParseNorm("{ weight: { tensor: w }, bias: { tensor: b } }", kFolder));

  EXPECT_EQ(std::get<LayerNorm>(norm),
            (LayerNorm{.weight = TableFile{.tensor = "w"}, .bias = TableFile{.tensor = "b"}}));
}

TEST(LayerNormSetting, EpsAloneMayBeSaidBesideAPath) {
  ASSERT_OK_AND_ASSIGN(const auto norm, ParseNorm("{ eps: 0 }", kFolder));

  EXPECT_EQ(std::get<LayerNorm>(norm), (LayerNorm{.eps = 0.0}));
}

TEST(LayerNormSetting, NeedsAWeightWithoutAPath) {
  for (const char* norm : {"{}", "{ eps: 1 }", "{ bias: { file: b.npy } }"}) {
    EXPECT_THAT(ParseNorm(norm), StatusIs(kInvalid, "c/e.yaml:1: models[0].layer_norm: weight is missing")) << norm;
  }
}

TEST(LayerNormSetting, SaysSomethingBesideAPath) {
  EXPECT_THAT(ParseNorm("{}", kFolder),
              StatusIs(kInvalid, HasSubstr("models[0].layer_norm: weight or eps is missing")));
}

TEST(LayerNormSetting, BiasNeedsAWeightEvenBesideAPath) {
  EXPECT_THAT(ParseNorm("{ bias: { tensor: b }, eps: 1 }", kFolder),
              StatusIs(kInvalid, HasSubstr("models[0].layer_norm.bias: needs weight")));
}

TEST(LayerNormSetting, VectorsNeedAFileWithoutAPath) {
  EXPECT_THAT(ParseNorm("{ weight: { tensor: w } }"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].layer_norm.weight: file is missing"));
  EXPECT_THAT(ParseNorm("{ weight: { file: w.npy }, bias: {} }"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].layer_norm.bias: file is missing"));
}

TEST(LayerNormSetting, EpsIsFiniteAndNotNegative) {
  for (const char* eps : {"-1e-5", ".inf", "nan", "'1'"}) {
    EXPECT_THAT(ParseNorm(absl::StrCat("{ weight: { file: w.npy }, eps: ", eps, " }")),
                StatusIs(kInvalid, HasSubstr("layer_norm.eps: must be a finite number >= 0, got \"")))
        << eps;
  }
}

TEST(LayerNormSetting, OtherThingsAreRefused) {
  EXPECT_THAT(ParseNorm("yes"), StatusIs(kInvalid,
                                         "c/e.yaml:1: models[0].layer_norm: must be none, or a map of "
                                         "weight, bias, eps, got \"yes\""));
  EXPECT_THAT(ParseNorm("{ weight: w.npy }"),
              StatusIs(kInvalid, HasSubstr("models[0].layer_norm.weight: must be a map, got \"w.npy\"")));
  EXPECT_THAT(ParseNorm("{ gamma: {} }"), StatusIs(kInvalid, HasSubstr("layer_norm: unknown key \"gamma\"")));
  EXPECT_THAT(ParseNorm("{ weight: { seeded: {} } }"), StatusIs(kInvalid, HasSubstr("unknown key \"seeded\"")));
}

}  // namespace
}  // namespace embd::config
