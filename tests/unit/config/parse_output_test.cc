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

absl::StatusOr<Output> ParseOutput(absl::string_view output, absl::string_view token = kTokensFromDisk) {
  auto model = ParseOneModel(absl::StrCat("output: ", output, ", ", token));
  if (!model.ok()) return model.status();
  return model->output;
}

TEST(OutputSetting, IsUnsetWhereItIsNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel(kTokensFromDisk));
  EXPECT_EQ(model.output, Output{});
}

TEST(OutputSetting, TakesAllItsKeys) {
  ASSERT_OK_AND_ASSIGN(const Output output, ParseOutput("{ tied: false, scale: 0.5, softcap: 30, bias: { file: "
                                                        "a.safetensors, tensor: b } }"));

  EXPECT_EQ(
      output,
      (Output{
          .tied = false, .scale = 0.5, .softcap = 30.0, .bias = TableFile{.path = "c/a.safetensors", .tensor = "b"}}));
}

TEST(OutputSetting, NoneSaysThatThereIsNone) {
  ASSERT_OK_AND_ASSIGN(const Output output, ParseOutput("{ softcap: none, bias: none }", kFolder));

  EXPECT_EQ(output, (Output{.softcap = Absent{}, .bias = Absent{}}));
}

TEST(OutputSetting, NoneMayStandInQuotesAsInJson) {
  ASSERT_OK_AND_ASSIGN(const Output output, ParseOutput(R"({ softcap: "none", bias: "none" })", kFolder));

  EXPECT_EQ(output, (Output{.softcap = Absent{}, .bias = Absent{}}));
}

TEST(OutputSetting, TheFileOfABiasMayBeLeftToThePath) {
  ASSERT_OK_AND_ASSIGN(const Output output, ParseOutput("{ bias: { tensor: b } }", kFolder));

  EXPECT_EQ(output, (Output{.bias = TableFile{.tensor = "b"}}));
  EXPECT_THAT(ParseOutput("{ bias: { tensor: b } }"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].output.bias: file is missing"));
}

TEST(OutputSetting, OtherThingsAreRefused) {
  EXPECT_THAT(ParseOutput("{ scale: 0 }"),
              StatusIs(kInvalid, HasSubstr("models[0].output.scale: must be a finite number > 0, got \"0\"")));
  EXPECT_THAT(
      ParseOutput("{ softcap: -1 }"),
      StatusIs(kInvalid, HasSubstr("models[0].output.softcap: must be none or a finite number > 0, got \"-1\"")));
  EXPECT_THAT(ParseOutput("{ tied: 1 }"), StatusIs(kInvalid, HasSubstr("output.tied: must be true or false")));
  EXPECT_THAT(ParseOutput("{ bias: zeros }"), StatusIs(kInvalid, HasSubstr("must be none, or a map of file, tensor")));
  EXPECT_THAT(ParseOutput("none"), StatusIs(kInvalid, HasSubstr("models[0].output: must be a map")));
  EXPECT_THAT(ParseOutput("{ capped: 1 }"), StatusIs(kInvalid, HasSubstr("output: unknown key \"capped\"")));
}

}  // namespace
}  // namespace embd::config
