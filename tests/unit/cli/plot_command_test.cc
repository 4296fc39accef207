#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/plot/picture.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

namespace fs = std::filesystem;
using testing::CommandRunner;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Result;
using ::testing::StartsWith;

// Whether every element of an .svg is closed in its order, and there is one root.
bool IsWellFormed(const std::string& xml) {
  std::vector<std::string> open;
  int roots = 0;
  for (std::size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at)) {
    const std::size_t end = xml.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = xml.substr(at + 1, end - at - 1);
    at = end;
    const std::string name = tag.substr(0, tag.find_first_of(" \n/", 1));
    if (tag.front() == '?') continue;
    if (tag.front() == '/') {
      if (open.empty() || "/" + open.back() != tag) return false;
      open.pop_back();
      continue;
    }
    roots += open.empty() ? 1 : 0;
    if (tag.back() != '/') open.push_back(name);
  }
  return open.empty() && roots == 1;
}

std::uint32_t BigEndian(const std::string& bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = at; i < at + 4; ++i) number = number << 8U | static_cast<unsigned char>(bytes.at(i));
  return number;
}

class PlotCommand : public ::testing::Test {
 protected:
  PlotCommand() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / absl::StrCat("cli_plot_", info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    runner_.fake->AddModel({.name = "turning", .embedding_dim = 4, .token = {1, 2, 3, 4}, .rotary = {{.head_dim = 4}}});
  }
  ~PlotCommand() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] std::string Get(const std::string& name) const {
    std::ifstream file(Path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // `plot ARGUMENTS… --out NAME`.
  Result Plot(std::vector<std::string> arguments, const std::string& name) {
    arguments.insert(arguments.begin(), "plot");
    arguments.insert(arguments.end(), {"--out", Path(name)});
    return runner_.Run(arguments);
  }

  CommandRunner runner_;
  fs::path folder_;
};

class PlotPicture : public PlotCommand {
 protected:
  void SetUp() override {
    if (!plot::CanDraw()) GTEST_SKIP() << "this build has no Cairo";
  }
};

TEST_F(PlotPicture, EverySubjectBecomesAnSvgThatIsWellFormed) {
  const std::vector<std::vector<std::string>> subjects = {
      {"tiny", "--what", "positions"},
      {"turning", "--what", "positions", "--rows", "9"},
      {"tiny", "plain", "--what", "similarity", "--table", "token"},
      {"turning", "--what", "wavelengths", "--dim", "64", "--dim", "32", "--base", "500"},
      {"tiny", "--what", "norms", "--bins", "3"},
      {"tiny", "--what", "matrix", "--rows", "3"}};
  for (const std::vector<std::string>& arguments : subjects) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Result result = Plot(arguments, "picture.svg");
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("; written to " + Path("picture.svg") + "\n"));
    const std::string svg = Get("picture.svg");
    EXPECT_TRUE(IsWellFormed(svg));
    EXPECT_THAT(svg, HasSubstr("width=\"800px\" height=\"500px\""));
    fs::remove(Path("picture.svg"));
  }
}

TEST_F(PlotPicture, APngHasItsMagicAndTheSizeAskedFor) {
  const Result result = Plot({"tiny", "--what", "positions", "--size", "400x300", "--dpi", "192"}, "picture.PNG");

  ASSERT_EQ(result.code, 0) << result.err;
  const std::string png = Get("picture.PNG");
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n\x1A\n"));
  EXPECT_EQ(BigEndian(png, 16), 800u);
  EXPECT_EQ(BigEndian(png, 20), 600u);
}

TEST_F(PlotPicture, TheSameFigureIsTheSamePng) {
  ASSERT_EQ(Plot({"tiny", "--what", "similarity"}, "a.png").code, 0);
  ASSERT_EQ(Plot({"tiny", "--what", "similarity"}, "b.png").code, 0);

  EXPECT_EQ(Get("a.png"), Get("b.png"));
}

TEST_F(PlotPicture, SaysWhatItHasDrawn) {
  const Result text = Plot({"tiny", "--what", "positions"}, "a.svg");
  EXPECT_EQ(text.out, "Positions of tiny, (4, 2); written to " + Path("a.svg") + "\n");

  const auto json = nlohmann::json::parse(Plot({"tiny", "--what", "positions", "--output", "json"}, "a.svg").out);
  EXPECT_EQ(json["what"], "positions");
  EXPECT_EQ(json["title"], "Positions of tiny, (4, 2)");
  EXPECT_EQ(json["out"], Path("a.svg"));
  EXPECT_EQ(json["byte_size"], fs::file_size(Path("a.svg")));
}

TEST_F(PlotPicture, AsksForTheRowsThatItDraws) {
  ASSERT_EQ(Plot({"tiny", "--what", "positions", "--rows", "3"}, "a.svg").code, 0);

  EXPECT_EQ(runner_.fake->embed_requests().back().sequence_length, 3);
  EXPECT_EQ(runner_.fake->embed_requests().back().part, client::Part::kPosition);
}

TEST_F(PlotPicture, WhatTheServerRefusesLeavesThePictureThatWasThere) {
  std::ofstream(Path("old.svg")) << "old";

  const Result result = Plot({"plain", "--what", "similarity"}, "old.svg");

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("FAILED_PRECONDITION (NO_POSITION_TABLE): "));
  EXPECT_EQ(Get("old.svg"), "old");
}

TEST_F(PlotPicture, APageWithoutRoomIsWrongUsage) {
  const Result result = Plot({"tiny", "--what", "positions", "--size", "120x120"}, "a.svg");

  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("120x120 leaves too little room beside the text; choose a larger --size"));
  EXPECT_FALSE(fs::exists(Path("a.svg")));
}

TEST_F(PlotPicture, AFolderThatIsNotThereIsWrongUsage) {
  const Result result = Plot({"tiny", "--what", "positions"}, "nowhere/a.svg");

  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("nowhere/a.svg: cannot be written: No such file or directory"));
}

TEST_F(PlotCommand, SaysSoWhereItWasBuiltWithoutCairo) {
  const Result result = Plot({"turning", "--what", "wavelengths"}, "a.svg");

  EXPECT_EQ(result.code, plot::CanDraw() ? 0 : 2);
  EXPECT_EQ(result.err.find("built without Cairo") == std::string::npos, plot::CanDraw());
}

TEST_F(PlotCommand, RefusesWhatItCannotDrawBeforeItAsks) {
  const struct {
    std::vector<std::string> arguments;
    std::string file;
    std::string complaint;
  } wrong[] = {
      {{"tiny", "--what", "positions"}, "a.pdf", "a.pdf: the ending tells the format, and is neither .svg nor .png"},
      {{"tiny", "--what", "poetry"}, "a.svg", "--what: poetry not in {positions,similarity,wavelengths,norms,matrix}"},
      {{"--what", "positions"}, "a.svg", "--what positions needs a MODEL, see"},
      {{"--what", "wavelengths"}, "a.svg", "--what wavelengths needs a MODEL or --dim, see"},
      {{"tiny", "plain", "--what", "matrix"}, "a.svg", "--what matrix draws at most 1 in one picture, not 2"},
      {{"a", "b", "c", "d", "e", "f", "g", "h", "--what", "similarity"}, "a.svg", "draws at most 7"},
      {{"tiny", "--what", "norms", "--rows", "3"}, "a.svg", "--rows means nothing for --what norms"},
      {{"tiny", "--what", "matrix", "--max-offset", "3"}, "a.svg", "--max-offset means nothing for --what matrix"},
      {{"tiny", "--what", "positions", "--table", "token"}, "a.svg", "--table means nothing for --what positions"},
      {{"tiny", "--what", "matrix", "--bins", "3"}, "a.svg", "--bins means nothing for --what matrix"},
      {{"tiny", "--what", "similarity", "--dim", "8"}, "a.svg", "--dim means nothing for --what similarity"},
      {{"tiny", "--what", "wavelengths", "--base", "10"}, "a.svg", "--base needs --dim"},
      {{"tiny", "--what", "matrix", "--rows", "1025"}, "a.svg", "--rows: 1025 is not in range 1 to 1024"},
      {{"tiny", "--what", "matrix", "--size", "big"}, "a.svg", "--size: \"big\" is not a WIDTHxHEIGHT"},
      {{"tiny", "--what", "matrix", "--size", "9x900"}, "a.svg", "each in 120 to 4096"},
      {{"tiny", "--what", "matrix", "--dpi", "96"}, "a.svg", "--dpi is for .png"},
      {{"tiny", "--what", "matrix", "--size", "4096x300", "--dpi", "200"}, "a.png", "is more than 8192 pixels"},
  };
  for (const auto& [arguments, file, complaint] : wrong) {
    SCOPED_TRACE(complaint);
    const Result result = Plot(arguments, file);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(complaint));
  }
  EXPECT_THAT(runner_.fake->embed_requests(), IsEmpty());
  EXPECT_EQ(runner_.fake->calls("DescribeModel"), 0);
}

}  // namespace
}  // namespace embd::cli
