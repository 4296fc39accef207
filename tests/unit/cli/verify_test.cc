#include <filesystem>
#include <fstream>
#include <limits>
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
using testing::Floats;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Result;

// "tiny" answers ids 0 1 with ((0, 1), (12, -7)).
class VerifyCommand : public ::testing::Test {
 protected:
  VerifyCommand() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("cli_verify_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~VerifyCommand() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const Tensor& tensor) const {
    const std::string path = (folder_ / name).string();
    std::ostringstream unused;
    const auto format = FormatOf(path, "", FileFormat::kJson);
    EXPECT_THAT(WriteTensor(tensor.view(), "embeddings", path, *format, unused), embd::testing::IsOk());
    return path;
  }

  Result Verify(const std::string& path, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"verify", "tiny", "--ids", "0 1", "--against", path};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return runner_.Run(arguments);
  }

  CommandRunner runner_;
  fs::path folder_;
};

TEST_F(VerifyCommand, EndsWith0WhereEveryFormatHoldsTheSame) {
  for (const char* name : {"a.npy", "a.json", "a.jsonl", "a.csv", "a.txt", "a.safetensors"}) {
    SCOPED_TRACE(name);

    const Result result = Verify(Write(name, Floats({1, 2, 2}, {0, 1, 12, -7})));

    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.out,
              "compared            4 cells of (1, 2, 2) float32\n"
              "equal bit for bit   4\n"
              "largest difference  0 ulp\n");
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(VerifyCommand, EndsWith1AndNamesTheFirstCellThatDiffers) {
  const std::string path = Write("a.npy", Floats({1, 2, 2}, {0, 1, 12 + 0x3p-20F, -8}));

  const Result result = Verify(path);

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out,
            "compared            4 cells of (1, 2, 2) float32\n"
            "equal bit for bit   2\n"
            "largest difference  2097152 ulp\n"
            "first difference    [0][1][0]: 12.0 served, 12.000003 in " +
                path + "\n");
  EXPECT_EQ(result.err, "embdctl: what is served differs from " + path + " by more than 0 ulp\n");
}

TEST_F(VerifyCommand, AllowsAsManyUlpAsItIsTold) {
  const std::string path = Write("a.npy", Floats({1, 2, 2}, {0, 1, 12 + 0x3p-20F, -7}));

  EXPECT_EQ(Verify(path, {"--max-ulp", "2"}).code, 1);
  EXPECT_EQ(Verify(path, {"--max-ulp", "3"}).code, 0);
}

TEST_F(VerifyCommand, NamesBothShapesWhereTheyDiffer) {
  const std::string path = Write("a.npy", Floats({2, 1, 2}, {0, 1, 12, -7}));

  const Result result = Verify(path);

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "embdctl: served is (1, 2, 2), " + path + " holds (2, 1, 2)\n");
}

TEST_F(VerifyCommand, AsksForTheTypeOfTheFile) {
  const Tensor brain = testing::MakeTensor<std::uint16_t>(DataType::kBFloat16, {1, 2, 2}, {0, 0x3F80, 0x4140, 0xC0E0});
  const Tensor half = testing::MakeTensor<std::uint16_t>(DataType::kFloat16, {1, 2, 2}, {0, 0x3C00, 0x4A00, 0xC700});

  EXPECT_EQ(Verify(Write("a.safetensors", brain)).code, 0);
  EXPECT_EQ(runner_.fake->embed_requests().back().output_type, client::DataType::kBfloat16);
  EXPECT_EQ(Verify(Write("a.npy", half)).code, 0);
  EXPECT_EQ(runner_.fake->embed_requests().back().output_type, client::DataType::kFloat16);
}

TEST_F(VerifyCommand, PrintsJson) {
  const std::string path = Write("a.json", Floats({1, 2, 2}, {-0.0F, 1, 12, -7 + 0x1p-21F}));

  const Result result = Verify(path, {"--output", "json"});
  const json report = json::parse(result.out);

  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(report["model"], "tiny");
  EXPECT_EQ(report["against"], path);
  EXPECT_EQ(report["data_type"], "float32");
  EXPECT_EQ(report["shape"], json({1, 2, 2}));
  EXPECT_EQ(report["cells"], 4);
  EXPECT_EQ(report["equal_cells"], 2);
  EXPECT_EQ(report["nan_against_number"], 0);
  EXPECT_EQ(report["largest_ulp"], 1);
  EXPECT_EQ(report["max_ulp"], 0);
  EXPECT_EQ(report["ok"], false);
  EXPECT_EQ(report["first_difference"]["cell"], json({0, 0, 0}));
  EXPECT_EQ(report["first_difference"]["served"], 0.0);
  EXPECT_EQ(report["first_difference"]["ulp"], 0);
  EXPECT_THAT(Verify(Write("b.json", Floats({1, 2, 2}, {0, 1, 12, 0.1F})), {"--output", "json"}).out,
              HasSubstr("\"expected\": 0.1,"));
}

TEST_F(VerifyCommand, NeverAllowsNanAgainstANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();

  const Result result = Verify(Write("a.npy", Floats({1, 2, 2}, {0, 1, nan, -7})), {"--max-ulp", "4294967296"});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, HasSubstr("nan against a number  1\n"));
  EXPECT_THAT(result.out, HasSubstr("[0][1][0]: 12.0 served, nan in "));
}

TEST_F(VerifyCommand, TakesTheOptionsOfEmbed) {
  const std::string path = Write("a.npy", Floats({3, 2}, {0, 1, 2, 3, 14, -5}));

  const Result result = runner_.Run({"verify", "tiny", "--ids", "0; 1 2", "--ragged", "packed", "--against", path});

  EXPECT_EQ(result.code, 0) << result.err;
}

TEST_F(VerifyCommand, FindsWrongUsageBeforeAskingTheServer) {
  const std::string floats = Write("a.npy", Floats({1, 2, 2}, {0, 1, 12, -7}));
  const std::string integers = Write("b.npy", testing::Ids({1, 2}, {0, 1}));
  const std::string doubles = Write("c.npy", testing::MakeTensor<double>(DataType::kFloat64, {1}, {0}));

  for (const Result& result :
       {Verify(floats, {"--dtype", "float16"}), Verify(integers), Verify(doubles), Verify("none.npy"),
        Verify(floats, {"--max-ulp", "-1"}), Verify(floats, {"--mask", "x"}), runner_.Run({"verify", "tiny"}),
        runner_.Run({"verify", "tiny", "--mask", "@-", "--against", "-"})}) {
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.out, "");
  }
  EXPECT_THAT(Verify(doubles).err, HasSubstr("holds float64; what is served is float32, float16 or bfloat16"));
  EXPECT_THAT(runner_.fake->embed_requests(), IsEmpty());
}

TEST_F(VerifyCommand, PassesTheServersRefusalOn) {
  const std::string path = Write("a.npy", Floats({1, 2, 2}, {0, 1, 12, -7}));

  const Result result = runner_.Run({"verify", "tiny", "--ids", "9 9", "--against", path});

  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("(ID_OUT_OF_RANGE): ids[0][0] = 9"));
}

}  // namespace
}  // namespace embd::cli
