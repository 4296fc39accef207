#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

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
using testing::Result;

class EmbedCommand : public ::testing::Test {
 protected:
  EmbedCommand() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("cli_embed_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~EmbedCommand() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  CommandRunner runner_;
  fs::path folder_;
};

TEST_F(EmbedCommand, PrintsTheTensorAsNumpyWould) {
  const Result result = runner_.Run({"embed", "tiny", "--ids", "0 1; 2 0"});

  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out,
            "embeddings (2, 2, 2) float32\n"
            "[[[ 0.  1.]\n"
            "  [12. -7.]]\n"
            "\n"
            " [[ 4.  5.]\n"
            "  [10. -9.]]]\n");
  EXPECT_EQ(result.err, "");
}

TEST_F(EmbedCommand, TakesChunksAsItIsTold) {
  const Result expected = runner_.Run({"embed", "tiny", "--ids", "0 1"});

  for (const std::string when : {"auto", "always", "never"}) {
    const Result result = runner_.Run({"embed", "tiny", "--ids", "0 1", "--chunks", when});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.out, expected.out);
  }
  EXPECT_EQ(runner_.Run({"embed", "tiny", "--ids", "0 1", "--chunks", "sometimes"}).code, 2);
}

TEST_F(EmbedCommand, PrintsOneJsonValue) {
  const json result = json::parse(runner_.Run({"embed", "tiny", "--ids", "0 1", "--output", "json"}).out);

  EXPECT_EQ(result["model"], "tiny");
  EXPECT_EQ(result["data_type"], "float32");
  EXPECT_EQ(result["shape"], json({1, 2, 2}));
  EXPECT_EQ(result["embeddings"], json::parse("[[[0.0, 1.0], [12.0, -7.0]]]"));
}

TEST_F(EmbedCommand, SpellsNumbersThatAreNotFiniteAsPythonDoes) {
  runner_.fake->AddModel({.name = "odd", .embedding_dim = 1, .token = {std::numeric_limits<float>::infinity()}});

  EXPECT_THAT(runner_.Run({"embed", "odd", "--ids", "0", "--output", "json"}).out,
              HasSubstr("\"embeddings\": [[[Infinity]]]\n}\n"));
}

TEST_F(EmbedCommand, SendsPartTypeAndOffset) {
  runner_.Run({"embed", "tiny", "--ids", "1", "--part", "token", "--dtype", "bfloat16", "--offset", "2"});

  ASSERT_EQ(runner_.fake->embed_requests().size(), 1u);
  const client::EmbedRequest request = runner_.fake->embed_requests().front();
  EXPECT_EQ(request.part, client::Part::kToken);
  EXPECT_EQ(request.output_type, client::DataType::kBfloat16);
  EXPECT_THAT(request.position_offsets, ElementsAre(2));
}

TEST_F(EmbedCommand, DistinctRowsComeWithTheirIdsAndTheInverse) {
  const json result = json::parse(
      runner_.Run({"embed", "tiny", "--ids", "2 0 2", "--part", "token", "--unique", "--output", "json"}).out);

  EXPECT_EQ(result["unique_ids"], json({2, 0}));
  EXPECT_EQ(result["inverse"], json({0, 1, 0}));
  EXPECT_EQ(result["shape"], json({2, 2}));
  EXPECT_EQ(result["embeddings"], json::parse("[[4.0, 5.0], [0.0, 1.0]]"));
}

TEST_F(EmbedCommand, DistinctRowsAreWrittenAsAMatrix) {
  const Result result =
      runner_.Run({"embed", "tiny", "--ids", "2 0 2", "--part", "token", "--unique", "--out", Path("rows.csv")});

  EXPECT_THAT(result.out, HasSubstr("embeddings (2, 2) float32 written to"));
}

TEST_F(EmbedCommand, PlainJsonTellsNoDistinctIds) {
  const json result = json::parse(runner_.Run({"embed", "tiny", "--ids", "0 1", "--output", "json"}).out);

  EXPECT_FALSE(result.contains("unique_ids"));
  EXPECT_FALSE(result.contains("inverse"));
}

TEST_F(EmbedCommand, DistinctRowsOfTheSumAreRefused) {
  const Result result = runner_.Run({"embed", "tiny", "--ids", "2 0 2", "--unique"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("INVALID_OPTION"));
}

TEST_F(EmbedCommand, OtherTablesThanThoseNamedAreRefused) {
  EXPECT_EQ(runner_.Run({"embed", "tiny", "--ids", "0", "--if-checksum", "fake"}).code, 0);

  const Result result = runner_.Run({"embed", "tiny", "--ids", "0", "--if-checksum", "other"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("TABLES_CHANGED"));
}

TEST_F(EmbedCommand, SendsNoOffsetUnlessAsked) {
  runner_.Run({"embed", "tiny", "--ids", "1"});

  ASSERT_EQ(runner_.fake->embed_requests().size(), 1u);
  EXPECT_TRUE(runner_.fake->embed_requests().front().position_offsets.empty());
}

TEST_F(EmbedCommand, LooksWordsUp) {
  const json result = json::parse(runner_.Run({"embed", "tiny", "--tokens", "man  king", "--output", "json"}).out);

  EXPECT_EQ(result["tokens"], json({"man", "king"}));
  EXPECT_EQ(result["ids"], json({2, 0}));
  EXPECT_EQ(result["shape"], json({1, 2, 2}));
}

TEST_F(EmbedCommand, RefusesWordsThatAreNotInTheVocabulary) {
  const Result result = runner_.Run({"embed", "tiny", "--tokens", "king prince"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("embdctl: INVALID_ARGUMENT (UNKNOWN_TOKEN): "));
}

TEST_F(EmbedCommand, PassesTheServersRefusalOn) {
  const Result result = runner_.Run({"embed", "tiny", "--ids", "-1"});

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("embdctl: INVALID_ARGUMENT (ID_OUT_OF_RANGE): ids[0][0] = -1"));
}

TEST_F(EmbedCommand, ReadsIdsFromAFileAndFromStandardInput) {
  std::ofstream(Path("ids.csv")) << "0,1\n2,0\n";

  const Result from_file = runner_.Run({"embed", "tiny", "--ids-file", Path("ids.csv")});
  const Result from_input = runner_.Run({"embed", "tiny", "--ids-file", "-"}, "[[0, 1], [2, 0]]");
  const Result as_text = runner_.Run({"embed", "tiny", "--ids-file", "-", "--ids-format", "txt"}, "0 1\n2 0\n");

  EXPECT_THAT(from_file.out, HasSubstr("(2, 2, 2)"));
  EXPECT_EQ(from_input.out, from_file.out);
  EXPECT_EQ(as_text.out, from_file.out);
}

TEST_F(EmbedCommand, GivesPositionsForAShapeWithoutIds) {
  const Result result = runner_.Run(
      {"embed", "tiny", "--part", "position", "--sequence-length", "2", "--offset", "1", "--output", "json"});

  EXPECT_EQ(json::parse(result.out)["embeddings"], json::parse("[[[10.0, -10.0], [20.0, -20.0]]]"));
}

TEST_F(EmbedCommand, WritesEveryFormatToAFile) {
  std::istringstream no_input;
  for (const char* ending : {"npy", "json", "jsonl", "csv", "txt", "safetensors"}) {
    SCOPED_TRACE(ending);
    const std::string path = Path(std::string("out.") + ending);

    const Result result = runner_.Run({"embed", "tiny", "--ids", "0 1", "--out", path});

    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.out, "embeddings (1, 2, 2) float32 written to " + path + "\n");
    ASSERT_OK_AND_ASSIGN(const FileFormat format, FormatNamed(ending));
    ASSERT_OK_AND_ASSIGN(const Tensor read, ReadTensor(path, format, no_input));
    EXPECT_EQ(read.bytes, testing::Floats({}, {0, 1, 12, -7}).bytes);
  }
}

TEST_F(EmbedCommand, WritesNothingButTheTensorToStandardOutput) {
  EXPECT_EQ(runner_.Run({"embed", "tiny", "--ids", "0 1", "--out", "-"}).out, "[[[0.0, 1.0], [12.0, -7.0]]]\n");
  EXPECT_EQ(runner_.Run({"embed", "tiny", "--ids", "0 1", "--out", "-", "--out-format", "csv"}).out,
            "0.0,1.0\n12.0,-7.0\n");
}

TEST_F(EmbedCommand, SaysInJsonWhereTheTensorWent) {
  const std::string path = Path("out.npy");

  const json result = json::parse(runner_.Run({"embed", "tiny", "--ids", "0", "--out", path, "--output", "json"}).out);

  EXPECT_EQ(result["out"], path);
  EXPECT_FALSE(result.contains("embeddings"));
}

TEST_F(EmbedCommand, FindsWrongUsageBeforeAskingTheServer) {
  std::ofstream(Path("bad.txt")) << "1 2\n3\n";
  const std::vector<std::vector<std::string>> wrong = {{},
                                                       {"--ids", ""},
                                                       {"--ids", "1 x"},
                                                       {"--ids", "1 2; 3"},
                                                       {"--ids", "9223372036854775808"},
                                                       {"--ids", "1", "--ids-file", "a.npy"},
                                                       {"--ids", "1", "--tokens", "king"},
                                                       {"--tokens", " "},
                                                       {"--ids-file", Path("none.npy")},
                                                       {"--ids-file", Path("bad.txt")},
                                                       {"--ids-file", Path("bad.bin")},
                                                       {"--ids-format", "npy", "--ids", "1"},
                                                       {"--ids", "1", "--part", "all"},
                                                       {"--ids", "1", "--dtype", "float64"},
                                                       {"--ids", "1", "--offset", "x"},
                                                       {"--ids", "1", "--sequence-length", "1"},
                                                       {"--part", "position"},
                                                       {"--sequence-length", "2"},
                                                       {"--ids", "1", "--out", Path("a.bin")},
                                                       {"--ids", "1", "--out", "-", "--output", "json"},
                                                       {"--ids", "1", "--out", Path("a.npy"), "--dtype", "bfloat16"}};
  for (std::vector<std::string> arguments : wrong) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    arguments.insert(arguments.begin(), {"embed", "tiny"});
    const Result result = runner_.Run(arguments);
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
  }
  EXPECT_TRUE(runner_.fake->embed_requests().empty());
  EXPECT_EQ(runner_.fake->calls("LookUpTokens"), 0);
}

TEST_F(EmbedCommand, EndsWith2WhereTheFileCannotBeWritten) {
  const Result result = runner_.Run({"embed", "tiny", "--ids", "0", "--out", Path("no/such/out.npy")});

  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("out.npy: cannot be written: No such file or directory"));
}

TEST_F(EmbedCommand, HintsAtTheWayOutForBFloat16InNpy) {
  const Result result = runner_.Run({"embed", "tiny", "--ids", "0", "--dtype", "bfloat16", "--out", Path("a.npy")});

  EXPECT_THAT(result.err, HasSubstr("ask for float16 or float32, or write a .safetensors file"));
}

}  // namespace
}  // namespace embd::cli
