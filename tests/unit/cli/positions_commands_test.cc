// wavelengths, shift, explain, and what compare says of them.

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using testing::CommandRunner;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Result;

// A fake that knows the calls which the plain one does not, as told.
class ShiftingFake : public client::FakeTransport {
 public:
  absl::StatusOr<client::ShiftProperty> ShiftProperty(const client::ShiftPropertyRequest& request,
                                                      const client::CallOptions&) override {
    shifted = request;
    return shift;
  }
  absl::StatusOr<client::TableStatistics> TableStatistics(const client::TableStatisticsRequest& request,
                                                          const client::CallOptions&) override {
    if (request.table == client::TableKind::kToken) return tokens;
    return client::TableStatistics{.mean = -0.25, .std = 0.5, .nan_count = 3, .zero_rows = 2};
  }

  client::ShiftPropertyRequest shifted;
  absl::StatusOr<client::ShiftProperty> shift = client::ShiftProperty{.model = "waves",
                                                                      .offset = 5,
                                                                      .rows = 9,
                                                                      .is_rotation = true,
                                                                      .max_residual = 1.25e-7,
                                                                      .rms_residual = 0.5e-7,
                                                                      .worst_position = 3,
                                                                      .worst_column = 7};
  absl::StatusOr<client::TableStatistics> tokens = absl::ResourceExhaustedError("too many rows");
};

class PositionCommands : public ::testing::Test {
 protected:
  PositionCommands() {
    runner_.fake = fake_;
    fake_->AddModel({.name = "waves",
                     .embedding_dim = 4,
                     .token = std::vector<float>(8, 0.5f),
                     .position = std::vector<float>(36, 0.25f),
                     .position_encoding = client::PositionEncoding::kSinusoidal});
    fake_->AddModel({.name = "bert",
                     .embedding_dim = 2,
                     .token = {1, 2, 3, 4},
                     .position = {0, 0, 10, 20, 30, 40},
                     .vocabulary = {"a", "b"},
                     .token_type = {100, 200, 300, 500},
                     .token_scale = 2,
                     .layer_norm_weight = {1, 2},
                     .layer_norm_bias = {0, 1},
                     .layer_norm_eps = 0});
    std::vector<float> wide(40);
    for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<float>(i % 20) / 10;
    fake_->AddModel({.name = "wide", .embedding_dim = 20, .token = wide});
  }

  std::shared_ptr<ShiftingFake> fake_ = std::make_shared<ShiftingFake>();
  CommandRunner runner_;
};

TEST_F(PositionCommands, WavelengthsStandSideBySide) {
  const Result result = runner_.Run({"wavelengths", "--dim", "64", "--dim", "32"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("      bands   base   shortest    longest      ratio  whole turns\n"
                                          "D 64     32  10000  6.2831853  47117.243  1.3335214  32 of 32\n"
                                          "D 32     16  10000  6.2831853  35332.948  1.7782794  16 of 16\n"),
                                HasSubstr("band       D 64       D 32\n"
                                          "   0  6.2831853  6.2831853\n"),
                                HasSubstr("  31  47117.243          -\n")));
}

TEST_F(PositionCommands, WavelengthsOfAModelAreWithinItsPositions) {
  EXPECT_THAT(runner_.Run({"wavelengths", "waves", "--dim", "4"}).out,
              AllOf(HasSubstr("waves      2  10000  6.2831853  628.31853    100  1 of 2 within 9 positions\n"),
                    HasSubstr("D 4        2  10000  6.2831853  628.31853    100  2 of 2\n")));
}

TEST_F(PositionCommands, WavelengthsTakeBaseLayoutAndRotaryFlags) {
  EXPECT_THAT(runner_.Run({"wavelengths", "--dim", "6", "--base", "100", "--layout", "tensor2tensor"}).out,
              HasSubstr("   2  628.31853\n"));
  EXPECT_THAT(
      runner_.Run({"wavelengths", "--head-dim", "4", "--theta", "100", "--scaling", "type=linear,factor=2"}).out,
      HasSubstr("rotary      2   100  12.566371  125.66371     10  2 of 2\n"));
  EXPECT_THAT(
      runner_.Run({"wavelengths", "--head-dim", "8", "--rotary-dim", "4", "--scaling", "type=proportional"}).out,
      HasSubstr("   3   infinity\n"));
}

TEST_F(PositionCommands, ManyWavelengthsAreShortenedUnlessAllAreWanted) {
  EXPECT_THAT(runner_.Run({"wavelengths", "--dim", "512"}).out,
              AllOf(HasSubstr("   …\n 252"), Not(HasSubstr("\n   8"))));
  EXPECT_THAT(runner_.Run({"wavelengths", "--dim", "512", "--all"}).out, HasSubstr("\n 100 "));
}

TEST_F(PositionCommands, WavelengthsPrintJson) {
  const json result = json::parse(runner_.Run({"wavelengths", "waves", "--dim", "2", "--output", "json"}).out);

  EXPECT_EQ(result["encodings"].size(), 2u);
  EXPECT_EQ(result["encodings"][0]["model"], "waves");
  EXPECT_EQ(result["encodings"][0]["max_context_length"], 9);
  EXPECT_EQ(result["encodings"][1]["max_context_length"], nullptr);
  EXPECT_EQ(result["encodings"][1]["frequencies"], json({1.0}));
}

TEST_F(PositionCommands, ShiftShowsTheResidual) {
  const Result result = runner_.Run({"shift", "waves", "--offset", "5", "--positions", "9"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "waves: how well one linear map takes position p to p + 5, of 9 positions\n"
            "map               rotation of each band\n"
            "largest residual  1.25e-07 at position 3, column 7\n"
            "rms residual      5e-08\n");
  EXPECT_EQ(fake_->shifted.model, "waves");
  EXPECT_EQ(fake_->shifted.offset, 5);
  EXPECT_EQ(fake_->shifted.max_context_length, 9);
}

TEST_F(PositionCommands, ShiftTakesAFormulaAndPrintsJson) {
  const Result result =
      runner_.Run({"shift", "--dim", "8", "--base", "2", "--layout", "tensor2tensor", "--output", "json"});

  EXPECT_EQ(json::parse(result.out)["max_residual"], 1.25e-7);
  EXPECT_EQ(json::parse(result.out)["is_rotation"], true);
  EXPECT_EQ(fake_->shifted.model, "");
  EXPECT_EQ(fake_->shifted.sinusoidal->embedding_dim, 8);
  EXPECT_EQ(fake_->shifted.sinusoidal->base, 2);
  EXPECT_TRUE(fake_->shifted.sinusoidal->tensor2tensor);
}

TEST_F(PositionCommands, ExplainShowsTheSumNumberByNumber) {
  const Result result =
      runner_.Run({"explain", "bert", "--ids", "0; 1 0", "--ragged", "--type-ids", "0; 0 1", "--cell", "1,1"});

  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            "bert: id 0 \"a\", type 1, position 1\n"
            "embedding = LayerNorm(token[0] * 2 + type[1] + position[1])\n"
            "LayerNorm: mean 418, variance 11236, eps 0\n"
            "d  token  scaled  type  position  sum  embedding\n"
            "0      1       2   300        10  312         -1\n"
            "1      2       4   500        20  524          3\n");
}

TEST_F(PositionCommands, ExplainTakesWordsAndShortensWideRows) {
  EXPECT_THAT(runner_.Run({"explain", "bert", "--tokens", "b a", "--cell", "0,0"}).out,
              HasSubstr("bert: id 1 \"b\", type 0, position 0\n"));
  const std::string wide = runner_.Run({"explain", "wide", "--ids", "1", "--cell", "0,0"}).out;
  EXPECT_THAT(
      wide, AllOf(HasSubstr("embedding = token[1]\n"), HasSubstr(" 7    0.7        0.7\n …\n16    1.6        1.6\n")));
  EXPECT_THAT(runner_.Run({"explain", "wide", "--ids", "1", "--cell", "0,0", "--all"}).out,
              HasSubstr("\n12    1.2        1.2\n"));
}

TEST_F(PositionCommands, ExplainPrintsJsonInTheFewestDigits) {
  const json result =
      json::parse(runner_.Run({"explain", "wide", "--ids", "1", "--cell", "0,0", "--output", "json"}).out);

  EXPECT_EQ(result["embedding"].size(), 20u);
  EXPECT_EQ(result["embedding"][1].get<double>(), 0.1) << "the float32 nearest to 0.1 reads so";
  EXPECT_EQ(result["token_row"], 1);
  EXPECT_EQ(result["position"], nullptr);
  EXPECT_EQ(result["layer_norm_mean"], nullptr);
  EXPECT_EQ(result["position_values"], json::array());
}

TEST_F(PositionCommands, WrongUsageEndsWith2) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"wavelengths"}, "name a model, or give --dim or --head-dim"},
      {{"wavelengths", "waves", "--base", "2"}, "--base requires --dim"},
      {{"wavelengths", "--scaling", "nonsense"}, "--scaling"},
      {{"shift"}, "name a model, or give --dim"},
      {{"shift", "waves", "--dim", "4"}, "excludes"},
      {{"explain", "bert", "--cell", "0,0"}, "give the ids with --ids, --ids-file or --tokens"},
      {{"explain", "bert", "--ids", "1", "--cell", "0"}, "--cell: \"0\" is not of the form ROW,COLUMN"},
      {{"explain", "bert", "--ids", "x", "--cell", "0,0"}, "--ids"}};
  for (const auto& [arguments, message] : wrong) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Result result = runner_.Run(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
  }
}

TEST_F(PositionCommands, RefusalsEndWith1) {
  EXPECT_THAT(runner_.Run({"wavelengths", "bert"}).err, HasSubstr("FAILED_PRECONDITION (NO_WAVELENGTHS)"));
  EXPECT_THAT(runner_.Run({"explain", "bert", "--ids", "1", "--cell", "0,1"}).err,
              HasSubstr("INVALID_ARGUMENT (INVALID_OPTION)"));
  EXPECT_THAT(runner_.Run({"explain", "bert", "--tokens", "c", "--cell", "0,0"}).err, HasSubstr("UNKNOWN_TOKEN"));
  fake_->shift = absl::FailedPreconditionError("no");
  EXPECT_EQ(runner_.Run({"shift", "waves"}).code, 1);
}

TEST_F(PositionCommands, CompareAddsWhatIsFoundOut) {
  const Result result = runner_.Run({"compare", "bert", "waves", "--tokens", "2"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("\n== Wavelengths: positions a turn\n"
                                    "model  bands   shortest    longest  ratio  whole turns\n"
                                    "waves      2  6.2831853  628.31853    100  1 of 2 within 9 positions\n"
                                    "\n== One linear map from each position to the next\n"
                                    "bert: largest residual 1.25e-07, rotation of each band, 9 positions\n"
                                    "waves: largest residual 1.25e-07, rotation of each band, 9 positions\n"
                                    "\n== Statistics of the tables\n"
                                    "bert token table: refused: too many rows\n"
                                    "bert position table: mean -0.2500, std 0.5000, zero rows 2, NaNs 3\n"
                                    "waves token table: refused: too many rows\n"
                                    "waves position table: mean -0.2500, std 0.5000, zero rows 2, NaNs 3\n"));
}

TEST_F(PositionCommands, CompareLeavesOutWhatAServerDoesNotKnow) {
  fake_->shift = absl::UnimplementedError("older");
  fake_->tokens = absl::UnimplementedError("older");

  const Result text = runner_.Run({"compare", "wide", "wide"});
  const Result result = runner_.Run({"compare", "bert", "waves", "--tokens", "2", "--output", "json"});

  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out,
              AllOf(Not(HasSubstr("linear map")), Not(HasSubstr("Statistics")), Not(HasSubstr("Wavelengths"))));
  const json found = json::parse(result.out)["models"];
  EXPECT_EQ(found[0]["wavelengths"], nullptr);
  EXPECT_EQ(found[0]["shift"], nullptr);
  EXPECT_EQ(found[1]["wavelengths"]["full_turns"], 1);
  EXPECT_EQ(found[1]["statistics"],
            json({{{"table", "position"}, {"mean", -0.25}, {"std", 0.5}, {"zero_rows", 2}, {"nan_count", 3}}}));
}

}  // namespace
}  // namespace embd::cli
