#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "client/cli/files/tensor_file.h"
#include "gmock/gmock.h"
#include "tests/unit/cli/command_runner.h"

namespace embd::cli {
namespace {

using nlohmann::json;
using testing::CommandRunner;
using ::testing::HasSubstr;
using testing::Result;

class BagCommand : public ::testing::Test {
 protected:
  // Row i of "tiny" is (2i, 2i + 1).
  Result Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bag", "tiny"});
    return runner_.Run(arguments);
  }

  CommandRunner runner_;
};

TEST_F(BagCommand, PrintsOneMeanABag) {
  const Result result = Run({"--ids", "0 1; 2;; 1 2"});

  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "embeddings (4, 2) float32\n[[1. 2.]\n [4. 5.]\n [0. 0.]\n [3. 4.]]\n");
}

TEST_F(BagCommand, WeightsStandAsTheIdsDoOrInOneRow) {
  for (const char* const weights : {"1 -0.5; 10", "1, -0.5, 10", "1 -0.5; 10;"}) {
    const Result result = Run({"--ids", "0 1; 2", "--mode", "sum", "--weights", weights, "--output", "json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const json printed = json::parse(result.out);
    EXPECT_EQ(printed["embeddings"], json({{-1.0, -0.5}, {40.0, 50.0}}));
    EXPECT_EQ(printed["shape"], json({2, 2}));
    EXPECT_EQ(printed["mode"], "sum");
    EXPECT_EQ(printed["model"], "tiny");
    EXPECT_EQ(printed["checksum"], "fake");
  }
}

TEST_F(BagCommand, ReadsIdsFromAFileAndWritesTheVectors) {
  const auto folder = std::filesystem::path(::testing::TempDir());
  const std::string ids = (folder / "cli_bag_ids.json").string(), out = (folder / "cli_bag_out.npy").string();
  std::ofstream(ids) << "[[0, 2], []]";

  const Result result = Run({"--ids", "@" + ids, "--mode", "max", "--dtype", "float16", "--out", out});

  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "embeddings (2, 2) float16 written to " + out + "\n");
  const auto tensor = ReadTensor(out, FileFormat::kNpy, std::cin);
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(FloatAt(tensor->view(), 1), 5);
}

TEST_F(BagCommand, RefusesWhatCannotBeMeant) {
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char* complaint;
  } cases[] = {{{"--ids", "1 x"}, 2, "--ids: "},
               {{"--ids", "1 2; 0", "--weights", "1 2 3; 4"}, 2, "--weights: row 0 has 3 values, that of --ids has 2"},
               {{"--ids", "1 2; 0", "--weights", "1; 2; 3"}, 2, "--weights: has 3 rows, --ids has 2"},
               {{"--ids", "1", "--weights", "heavy"}, 2, "--weights: row 0: "},
               {{"--ids", "1 2", "--weights", "1"}, 1, "INVALID_SHAPE"},
               {{"--ids", "3"}, 1, "bags[0].ids[0] = 3"}};
  for (const auto& [arguments, code, complaint] : cases) {
    const Result result = Run(arguments);
    EXPECT_EQ(result.code, code) << complaint;
    EXPECT_THAT(result.err, HasSubstr(complaint));
    EXPECT_EQ(result.out, "");
  }
}

}  // namespace
}  // namespace embd::cli
