#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "client/cli/commands/rotary_flags.h"
#include "client/cli/files/tensor_file.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/cli/command_runner.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

namespace fs = std::filesystem;
using ::embd::testing::StatusIs;
using nlohmann::json;
using testing::CommandRunner;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Result;

class RotateCommand : public ::testing::Test {
 protected:
  RotateCommand() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("cli_rotate_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    runner_.fake->AddModel(
        {.name = "rotary",
         .embedding_dim = 1,
         .token = {1},
         .rotary = client::RotaryParameters{.head_dim = 4, .pairing = client::RotaryPairing::kHalf},
         .rotary_layer_types = {{"inner", {.head_dim = 4, .pairing = client::RotaryPairing::kInterleaved}}}});
  }
  ~RotateCommand() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  CommandRunner runner_;
  fs::path folder_;
};

constexpr char kVectors[] = "[[1, 2, 3, 4]]";

TEST_F(RotateCommand, PrintsTurnedVectors) {
  const Result result = runner_.Run({"rotate", "rotary", "--in", "-", "--offset", "1"}, kVectors);

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "vectors (1, 4) float32\n[[-1.9841106  1.9599006  2.4623778  4.0197997]]\n");
}

TEST_F(RotateCommand, NeedsNoModelWhereFlagsSayAll) {
  const Result result = runner_.Run(
      {"rotate", "--pairing", "interleaved", "--split", "--position-ids", "1", "--in", "-", "--output", "json"},
      kVectors);

  ASSERT_EQ(result.code, 0) << result.err;
  const json printed = json::parse(result.out);
  EXPECT_EQ(printed["shape"], json({1, 4}));
  EXPECT_EQ(printed["attention_factor"], 1.0);
  EXPECT_NEAR(printed["vectors"][0][1].get<double>(), 2.959851, 1e-5);
}

TEST_F(RotateCommand, LayerTypeAndInverseUndoEachOther) {
  const Result there = runner_.Run(
      {"rotate", "rotary", "--layer-type", "inner", "--offset", "3", "--in", "-", "--out", Path("a.npy")}, kVectors);
  ASSERT_EQ(there.code, 0) << there.err;
  EXPECT_EQ(there.out, "vectors (1, 4) float32 written to " + Path("a.npy") + "\n");
  const Result back = runner_.Run(
      {"rotate", "--pairing", "interleaved", "--offset", "3", "--inverse", "--in", Path("a.npy"), "--output", "json"});
  ASSERT_EQ(back.code, 0) << back.err;
  EXPECT_NEAR(json::parse(back.out)["vectors"][0][3].get<double>(), 4, 1e-6);
}

TEST_F(RotateCommand, RefusalsOfTheServerAreTold) {
  const Result result = runner_.Run({"rotate", "plain", "--in", "-"}, kVectors);

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("FAILED_PRECONDITION (NO_ROTARY): "));
}

TEST_F(RotateCommand, WrongUsageIsToldBeforeTheServerIsAsked) {
  const auto complaint = [this](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"rotate", "rotary"});
    const Result result = runner_.Run(flags, kVectors);
    EXPECT_EQ(result.code, 2);
    return result.err;
  };
  EXPECT_THAT(complaint({}), HasSubstr("--in is required"));
  EXPECT_THAT(complaint({"--in", "-", "--scaling", "typ=yarn"}), HasSubstr("--scaling: unknown key \"typ\""));
  EXPECT_THAT(complaint({"--in", "-", "--position-ids", "x"}), HasSubstr("--position-ids: "));
  EXPECT_THAT(complaint({"--in", "-", "--out", "-", "--output", "json"}), HasSubstr("both want standard output"));
  EXPECT_THAT(complaint({"--in", "-", "--dtype", "bfloat16", "--out", Path("x.npy")}), HasSubstr("bfloat16"));
  EXPECT_EQ(runner_.fake->calls("Rotate"), 0);
}

TEST_F(RotateCommand, WholeNumbersAreNoVectors) {
  ASSERT_THAT(WriteTensor(testing::Ids({1, 4}, {1, 2, 3, 4}).view(), "x", Path("ids.npy"), FileFormat::kNpy,
                          *std::make_unique<std::ostringstream>()),
              ::embd::testing::IsOk());
  EXPECT_THAT(runner_.Run({"rotate", "rotary", "--in", Path("ids.npy")}).err, HasSubstr("holds int64"));
}

TEST_F(RotateCommand, TablePrintsCosinesAndSines) {
  const Result result = runner_.Run({"rotary-table", "--head-dim", "2", "--first", "1", "--length", "2"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out,
            "cos_sin (2, 2, 1) float32\n"
            "[[[ 0.5403023 ]\n"
            "  [-0.41614684]]\n"
            "\n"
            " [[ 0.84147096]\n"
            "  [ 0.9092974 ]]]\n");
}

TEST_F(RotateCommand, DescribeShowsScalingAndLayerTypes) {
  runner_.fake->AddModel({.name = "scaled",
                          .embedding_dim = 1,
                          .token = {1},
                          .rotary = client::RotaryParameters{
                              .head_dim = 4, .scaling = client::RotaryScaling{.type = "linear", .factor = 8.0}}});

  EXPECT_THAT(runner_.Run({"describe", "scaled"}).out,
              HasSubstr("rotary scaling      {\"type\":\"linear\",\"factor\":8.0}"));
  const json model = json::parse(runner_.Run({"describe", "rotary", "--output", "json"}).out);
  EXPECT_EQ(model["rotary_layer_types"]["inner"]["pairing"], "interleaved");
}

TEST(RotaryScalingText, JsonAndPairsMeanTheSame) {
  const auto from_json = ParseRotaryScaling(R"({"rope_type": "yarn", "factor": 4, "truncate": false})");
  const auto from_pairs = ParseRotaryScaling("type=yarn, factor=4, truncate=false");
  ASSERT_THAT(from_json, ::embd::testing::IsOk());
  ASSERT_THAT(from_pairs, ::embd::testing::IsOk());

  EXPECT_EQ(from_json->type, "yarn");
  EXPECT_EQ(from_pairs->type, "yarn");
  EXPECT_EQ(from_json->factor, 4);
  EXPECT_EQ(from_pairs->factor, 4);
  EXPECT_EQ(from_pairs->truncate, false);
}

TEST(RotaryScalingText, ListsGoAsJson) {
  const auto scaling = ParseRotaryScaling(R"({"type": "longrope", "short_factor": [1, 2.5], "long_factor": [3]})");
  ASSERT_THAT(scaling, ::embd::testing::IsOk());

  EXPECT_THAT(scaling->short_factor, ElementsAre(1, 2.5));
  EXPECT_THAT(scaling->long_factor, ElementsAre(3));
}

TEST(RotaryScalingText, MistakesAreNamed) {
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
  EXPECT_THAT(ParseRotaryScaling("{"), StatusIs(kInvalid, HasSubstr("no JSON object")));
  EXPECT_THAT(ParseRotaryScaling("yarn"), StatusIs(kInvalid, HasSubstr("\"yarn\" is not of the form KEY=VALUE")));
  EXPECT_THAT(ParseRotaryScaling("factor=x"), StatusIs(kInvalid, HasSubstr("factor must be a number")));
  EXPECT_THAT(ParseRotaryScaling("truncate=1"), StatusIs(kInvalid, HasSubstr("truncate must be true or false")));
  EXPECT_THAT(ParseRotaryScaling("max_position_embeddings=1.5"), StatusIs(kInvalid, HasSubstr("a whole number")));
  EXPECT_THAT(ParseRotaryScaling("type=1"), StatusIs(kInvalid, HasSubstr("type must be a string")));
  EXPECT_THAT(ParseRotaryScaling("short_factor=1"), StatusIs(kInvalid, HasSubstr("a list of numbers")));
}

}  // namespace
}  // namespace embd::cli
