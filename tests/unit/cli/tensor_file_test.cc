#include "client/cli/files/tensor_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

namespace fs = std::filesystem;
using embd::testing::IsOk;
using embd::testing::StatusIs;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Ids;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class TensorFile : public ::testing::Test {
 protected:
  TensorFile() {
    const auto* const info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::path(::testing::TempDir()) / (std::string("cli_tensor_file_") + info->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~TensorFile() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }

  std::string Put(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name), std::ios::binary) << content;
    return Path(name);
  }

  static std::string Get(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<fs::path> Files() const { return {fs::directory_iterator(folder_), fs::directory_iterator()}; }

  std::istringstream no_input_;
  std::ostringstream no_output_;
  fs::path folder_;
};

TEST_F(TensorFile, ReadsBackIdsInEveryFormat) {
  const Tensor ids = Ids({2, 3}, {1, 2, 3, -4, 5, 6});
  for (const char* ending : {"npy", "json", "jsonl", "csv", "txt", "safetensors"}) {
    SCOPED_TRACE(ending);
    const std::string path = Path(std::string("ids.") + ending);
    ASSERT_OK_AND_ASSIGN(const FileFormat format, FormatOf(path, "", FileFormat::kJson));
    ASSERT_THAT(WriteTensor(ids.view(), "ids", path, format, no_output_), IsOk());

    ASSERT_OK_AND_ASSIGN(const Tensor read, ReadIds(path, format, no_input_));

    EXPECT_EQ(read, ids);
  }
}

TEST_F(TensorFile, ReadsBackFloatsBitForBitInEveryFormat) {
  const Tensor values = Floats({2, 1, 3}, {0.1f, 1e-45f, -0.0f, 16777216.0f, 3.4028235e38f, 1.0f / 3.0f});
  for (const char* ending : {"npy", "json", "jsonl", "csv", "txt", "safetensors"}) {
    SCOPED_TRACE(ending);
    const std::string path = Path(std::string("values.") + ending);
    ASSERT_OK_AND_ASSIGN(const FileFormat format, FormatOf(path, "", FileFormat::kJson));
    ASSERT_THAT(WriteTensor(values.view(), "embeddings", path, format, no_output_), IsOk());

    ASSERT_OK_AND_ASSIGN(const Tensor read, ReadTensor(path, format, no_input_));

    EXPECT_EQ(read.bytes, values.bytes);
    const bool flat = format == FileFormat::kCsv || format == FileFormat::kTxt;
    EXPECT_EQ(read.shape, flat ? std::vector<std::int64_t>({2, 3}) : values.shape);
  }
}

TEST_F(TensorFile, TakesStandardInputAndOutputForADash) {
  std::istringstream input("[[1, 2]]");
  std::ostringstream output;

  ASSERT_OK_AND_ASSIGN(const Tensor ids, ReadIds("-", FileFormat::kJson, input));
  ASSERT_THAT(WriteTensor(ids.view(), "ids", "-", FileFormat::kTxt, output), IsOk());

  EXPECT_EQ(output.str(), "1 2\n");
}

TEST_F(TensorFile, TakesAVectorOfIdsAsOneRow) {
  ASSERT_OK_AND_ASSIGN(const Tensor ids, ReadIds(Put("ids.json", "[1, 2, 3]"), FileFormat::kJson, no_input_));

  EXPECT_EQ(ids.shape, (std::vector<std::int64_t>{1, 3}));
}

TEST_F(TensorFile, WidensInt32Ids) {
  const Tensor narrow = testing::MakeTensor<std::int32_t>(DataType::kInt32, {1, 2}, {-1, 2});
  ASSERT_THAT(WriteTensor(narrow.view(), "ids", Path("ids.npy"), FileFormat::kNpy, no_output_), IsOk());

  ASSERT_OK_AND_ASSIGN(const Tensor ids, ReadIds(Path("ids.npy"), FileFormat::kNpy, no_input_));

  EXPECT_EQ(ids, Ids({1, 2}, {-1, 2}));
}

TEST_F(TensorFile, RefusesIdsThatAreFloatsOrOfThreeExtents) {
  ASSERT_THAT(WriteTensor(Floats({1, 1}, {1}).view(), "ids", Path("f.npy"), FileFormat::kNpy, no_output_), IsOk());
  Put("deep.json", "[[[1]]]");

  EXPECT_THAT(ReadIds(Path("f.npy"), FileFormat::kNpy, no_input_),
              StatusIs(kInvalid, HasSubstr("f.npy: ids are integers, not float32")));
  EXPECT_THAT(ReadIds(Path("deep.json"), FileFormat::kJson, no_input_),
              StatusIs(kInvalid, HasSubstr("deep.json: ids have one or two extents, not 3")));
}

TEST_F(TensorFile, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT(ReadIds(Path("none.npy"), FileFormat::kNpy, no_input_),
              StatusIs(kInvalid, HasSubstr("none.npy: cannot be opened: No such file or directory")));
  EXPECT_THAT(ReadIds(folder_.string(), FileFormat::kNpy, no_input_), StatusIs(kInvalid, HasSubstr("is a folder")));
}

TEST_F(TensorFile, BeginsMessagesAboutContentWithThePath) {
  EXPECT_THAT(ReadIds(Put("a.txt", "1 2\n3\n"), FileFormat::kTxt, no_input_),
              StatusIs(kInvalid, HasSubstr("a.txt: row 1: ")));
}

TEST_F(TensorFile, LeavesTheOldFileWhereTheNewOneCannotBeWritten) {
  const std::string path = Put("old.npy", "old");
  const Tensor unwritable = testing::MakeTensor<std::uint16_t>(DataType::kBFloat16, {1}, {1});

  EXPECT_THAT(WriteTensor(unwritable.view(), "embeddings", path, FileFormat::kNpy, no_output_),
              StatusIs(kInvalid, HasSubstr("old.npy: .npy cannot hold bfloat16")));

  EXPECT_EQ(Get(path), "old");
  EXPECT_THAT(Files(), SizeIs(1));
}

TEST_F(TensorFile, ReplacesAFileAndLeavesNothingBesideIt) {
  const std::string path = Put("ids.txt", "a longer text than the new one");

  ASSERT_THAT(WriteTensor(Ids({1, 1}, {7}).view(), "ids", path, FileFormat::kTxt, no_output_), IsOk());

  EXPECT_EQ(Get(path), "7\n");
  EXPECT_THAT(Files(), SizeIs(1));
}

TEST_F(TensorFile, WritesThroughASymbolicLink) {
  const std::string path = Put("real.txt", "old");
  fs::create_symlink(path, Path("link.txt"));

  ASSERT_THAT(WriteTensor(Ids({1, 1}, {7}).view(), "ids", Path("link.txt"), FileFormat::kTxt, no_output_), IsOk());

  EXPECT_TRUE(fs::is_symlink(Path("link.txt")));
  EXPECT_EQ(Get(path), "7\n");
}

TEST_F(TensorFile, CreatesWhatASymbolicLinkLeadsTo) {
  fs::create_symlink("new.txt", Path("second.txt"));
  fs::create_symlink("second.txt", Path("first.txt"));

  ASSERT_THAT(WriteTensor(Ids({1, 1}, {7}).view(), "ids", Path("first.txt"), FileFormat::kTxt, no_output_), IsOk());

  EXPECT_TRUE(fs::is_symlink(Path("first.txt")));
  EXPECT_EQ(Get(Path("new.txt")), "7\n");
}

TEST_F(TensorFile, RefusesSymbolicLinksThatLeadInACircle) {
  fs::create_symlink("a.txt", Path("b.txt"));
  fs::create_symlink("b.txt", Path("a.txt"));

  EXPECT_THAT(WriteTensor(Ids({1, 1}, {7}).view(), "ids", Path("a.txt"), FileFormat::kTxt, no_output_),
              StatusIs(kInvalid, HasSubstr("a.txt: cannot be written: Too many levels of symbolic links")));
}

TEST_F(TensorFile, KeepsTheModeOfTheFileItReplaces) {
  const std::string path = Put("ids.txt", "old");
  const fs::perms mode = fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_write;
  fs::permissions(path, mode);

  ASSERT_THAT(WriteTensor(Ids({1, 1}, {7}).view(), "ids", path, FileFormat::kTxt, no_output_), IsOk());

  EXPECT_EQ(fs::status(path).permissions(), mode);
}

TEST_F(TensorFile, SaysWhyAFileCannotBeWritten) {
  EXPECT_THAT(WriteTensor(Ids({1, 1}, {7}).view(), "ids", Path("no/such/folder.txt"), FileFormat::kTxt, no_output_),
              StatusIs(kInvalid, HasSubstr("folder.txt: cannot be written: No such file or directory")));
  EXPECT_THAT(WriteTensor(Ids({1, 1}, {7}).view(), "ids", "/dev/full", FileFormat::kTxt, no_output_),
              StatusIs(kInvalid, HasSubstr("/dev/full: cannot be written: No space left on device")));
}

TEST_F(TensorFile, TellsTheFormatByNameThenByEndingThenByDefault) {
  ASSERT_OK_AND_ASSIGN(const FileFormat named, FormatOf("a.npy", "csv", FileFormat::kJson));
  ASSERT_OK_AND_ASSIGN(const FileFormat by_ending, FormatOf("folder.d/A.NPY", "", FileFormat::kJson));
  ASSERT_OK_AND_ASSIGN(const FileFormat standard, FormatOf("-", "", FileFormat::kJson));

  EXPECT_EQ(named, FileFormat::kCsv);
  EXPECT_EQ(by_ending, FileFormat::kNpy);
  EXPECT_EQ(standard, FileFormat::kJson);
}

TEST_F(TensorFile, NamesTheFormatsThereAre) {
  EXPECT_THAT(FormatOf("a.bin", "", FileFormat::kJson),
              StatusIs(kInvalid, HasSubstr("a.bin: the ending tells the format")));
  EXPECT_THAT(
      FormatOf("a.npy", "xml", FileFormat::kJson),
      StatusIs(kInvalid, HasSubstr("\"xml\" is no file format; there are npy, json, jsonl, csv, txt and safetensors")));
}

}  // namespace
}  // namespace embd::cli
