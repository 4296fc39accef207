#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/cli/files/tensor_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/cli/command_runner.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::CommandRunner;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Result;

class EmbedOptions : public ::testing::Test {
 protected:
  EmbedOptions() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("cli_embed_options_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    runner_.fake->AddModel({.name = "typed",
                            .embedding_dim = 1,
                            .token = {0, 1, 2, 3},
                            .position = {0, 10, 20, 30, 40},
                            .token_type = {0, 100}});
  }
  ~EmbedOptions() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  Result Embed(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), {"embed", "typed", "--output", "json"});
    return runner_.Run(arguments, input);
  }

  json Values(const std::vector<std::string>& arguments, const std::string& input = "") {
    const Result result = Embed(arguments, input);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.code == 0 ? json::parse(result.out)["embeddings"] : json();
  }

  CommandRunner runner_;
  fs::path folder_;
};

TEST_F(EmbedOptions, TakesPositionsForAllRowsOrForEach) {
  EXPECT_EQ(Values({"--ids", "1 2; 3 0", "--position-ids", "2 0"}), json({{{21}, {2}}, {{23}, {0}}}));
  EXPECT_EQ(Values({"--ids", "1 2; 3 0", "--position-ids", "2 0; 0 1"}), json({{{21}, {2}}, {{3}, {10}}}));
}

TEST_F(EmbedOptions, TakesAnOffsetForEachRow) {
  EXPECT_EQ(Values({"--ids", "1; 2", "--offsets", "0 3"}), json({{{1}}, {{32}}}));
}

TEST_F(EmbedOptions, TakesTypesAndAMask) {
  EXPECT_EQ(Values({"--ids", "1 2; 3 0", "--type-ids", "0 1; 1 0"}), json({{{1}, {112}}, {{103}, {10}}}));
  EXPECT_EQ(Values({"--ids", "0 3", "--mask", "0 1"}), json({{{10}, {3}}}));
}

TEST_F(EmbedOptions, TakesListsFromFiles) {
  std::ofstream(Path("types.json")) << "[[0, 1], [1, 0]]";
  std::ofstream(Path("ids.txt")) << "1 2\n3 0\n";

  EXPECT_EQ(Values({"--ids", "@" + Path("ids.txt"), "--type-ids", "@" + Path("types.json")}),
            json({{{1}, {112}}, {{103}, {10}}}));
  EXPECT_EQ(Values({"--ids", "1 2", "--type-ids", "@-"}, "[[0, 1]]"), json({{{1}, {112}}}));
}

TEST_F(EmbedOptions, TakesRowsOfDifferentLengths) {
  const json padded = json::parse(Embed({"--ids", "1 2;; 3", "--ragged", "padded"}).out);

  EXPECT_EQ(padded["embeddings"], json({{{1}, {12}}, {{0}, {0}}, {{3}, {0}}}));
  EXPECT_EQ(padded["row_lengths"], json({2, 0, 1}));
  EXPECT_EQ(Values({"--ids", "1 2;; 3", "--ragged", "packed"}), json({{1}, {12}, {3}}));
  EXPECT_EQ(Values({"--ids", "1 2; 3", "--ragged", "padded", "--padding-side", "left", "--sequence-length", "3"}),
            json({{{0}, {1}, {12}}, {{0}, {0}, {3}}}));
}

TEST_F(EmbedOptions, TakesRowsOfDifferentLengthsFromFiles) {
  std::ofstream(Path("ids.json")) << "[[1, 2], [], [3]]";
  std::ofstream(Path("ids.jsonl")) << "[1, 2]\n[]\n[3]\n";
  std::ofstream(Path("ids.csv")) << "1,2\n;\n3\n";

  for (const char* file : {"ids.json", "ids.jsonl", "ids.csv"}) {
    SCOPED_TRACE(file);
    EXPECT_EQ(Values({"--ids-file", Path(file), "--ragged", "packed"}), json({{1}, {12}, {3}}));
  }
}

TEST_F(EmbedOptions, TakesLengthsOfRowsThatStandOneAfterTheOther) {
  const json result = Values({"--ids", "1 2 3", "--lengths", "2 0 1", "--type-ids", "0 0; ; 1"});

  EXPECT_EQ(result, json({{{1}, {12}}, {{0}, {0}}, {{103}, {0}}}));
  EXPECT_THAT(runner_.fake->embed_requests().back().row_lengths, ElementsAre(2, 0, 1));
  EXPECT_EQ(runner_.fake->embed_requests().back().ragged_layout, client::RaggedLayout::kUnspecified);
}

TEST_F(EmbedOptions, HintsAtRaggedRowsWhereRowsDiffer) {
  std::ofstream(Path("ids.json")) << "[[1, 2], [3]]";

  for (const std::vector<std::string>& ids :
       {std::vector<std::string>{"--ids", "1 2; 3"}, {"--ids-file", Path("ids.json")}}) {
    const Result result = Embed(ids);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("; --ragged takes rows of different lengths\n"));
  }
}

TEST_F(EmbedOptions, SendsVectorsOfAFileInPlaceOfIds) {
  std::ostringstream unused;
  for (const char* name : {"v.npy", "v.safetensors", "v.json"}) {
    SCOPED_TRACE(name);
    ASSERT_OK_AND_ASSIGN(const FileFormat format, FormatOf(Path(name), "", FileFormat::kJson));
    ASSERT_THAT(WriteTensor(testing::Floats({1, 2, 1}, {0.5, 0.25}).view(), "embeddings", Path(name), format, unused),
                embd::testing::IsOk());
    EXPECT_EQ(Values({"--inputs-embeds", Path(name), "--type-ids", "0 1"}), json({{{0.5}, {110.25}}}));
  }
  EXPECT_EQ(Values({"--inputs-embeds", "-"}, "[[0.5], [0.25]]"), json({{{0.5}, {10.25}}}));
  EXPECT_EQ(Values({"--inputs-embeds", "-", "--lengths", "1 1"}, "[[0.5], [0.25]]"), json({{{0.5}}, {{0.25}}}));
}

TEST_F(EmbedOptions, SendsVectorsOfEveryTypeAsTheyAre) {
  std::ostringstream unused;
  const Tensor half = testing::MakeTensor<std::uint16_t>(DataType::kFloat16, {1, 1, 1}, {0x3800});
  ASSERT_THAT(WriteTensor(half.view(), "x", Path("half.npy"), FileFormat::kNpy, unused), embd::testing::IsOk());

  EXPECT_EQ(Values({"--inputs-embeds", Path("half.npy")}), json({{{0.5}}}));
  EXPECT_EQ(runner_.fake->embed_requests().back().inputs_embeds->data_type, client::DataType::kFloat16);
}

TEST_F(EmbedOptions, LeavesToTheServerWhatARequestCanSay) {
  const std::vector<std::vector<std::string>> refused = {
      {"--ids", "1", "--inputs-embeds", "-"},   {"--ids", "1", "--offsets", "0", "--position-ids", "0"},
      {"--ids", "1", "--padding-side", "left"}, {"--ids", "1", "--offsets", "0 1 2"},
      {"--ids", "1 2", "--type-ids", "0 5"},    {"--ids", "1 2", "--type-ids", "0"},
      {"--ids", "1 2", "--mask", "0 7"},        {"--ids", "1 2", "--lengths", "1"},
      {"--ids", "1 2", "--lengths", "3 -1"},    {"--ids", "1 2", "--ragged", "padded", "--sequence-length", "1"}};
  for (const std::vector<std::string>& arguments : refused) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Result result = Embed(arguments, "[[0.5]]");
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("embdctl: INVALID_ARGUMENT ("));
  }
}

TEST_F(EmbedOptions, FindsWhatNoRequestCanSay) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong = {
      {{"--ids", "1", "--offset", "0", "--offsets", "0"}, "excludes"},
      {{"--ids", "1", "--ragged", "loose"}, "loose"},
      {{"--ids", "1", "--padding-side", "top"}, "top"},
      {{"--ids", "1; 2", "--offsets", "0; 1"}, "--offsets: is one list, not 2 rows"},
      {{"--ids", "1 2; 3 0", "--type-ids", "0; 0; 0; 0"}, "--type-ids: has 4 rows, the batch has 2"},
      {{"--ids", "1 2; 3", "--ragged", "packed", "--mask", "1; 1 1"},
       "--mask: row 0 has 1 value, that of the batch has 2"},
      {{"--ids", "1", "--position-ids", "x"}, "--position-ids: row 0: \"x\" is not a whole number"},
      {{"--ids", "1", "--mask", "@none.npy"}, "--mask: none.npy: cannot be opened"},
      {{"--ids", "1", "--mask", "@none"}, "--mask: none: the ending tells the format"},
      {{"--ids", "@-", "--mask", "@-"}, "one option only"},
      {{"--part", "position", "--sequence-length", "1", "--ragged", "packed"}, "--ragged needs ids in rows"},
      {{"--inputs-embeds", "none.npy"}, "none.npy: cannot be opened"}};
  for (const auto& [arguments, message] : wrong) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Result result = Embed(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr(message));
  }
  EXPECT_THAT(runner_.fake->embed_requests(), IsEmpty());
}

TEST_F(EmbedOptions, TakesPositionsOfRaggedRowsWithoutIds) {
  EXPECT_EQ(Values({"--part", "position", "--lengths", "1 2"}), json({{{0}, {0}}, {{0}, {10}}}));
}

TEST_F(EmbedOptions, PrintsWarningsOnStandardError) {
  const Result result = Embed({"--ids", "1", "--mask", "1", "--position-ids", "0"});

  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("embdctl: warning: attention_mask"));
}

}  // namespace
}  // namespace embd::cli
