#include "server/formats/checkpoint.h"

#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/load_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kIndex[] = "model.safetensors.index.json";

class CheckpointTest : public ::testing::Test {
 protected:
  void Write(const std::string& name, const std::string& bytes) { static_cast<void>(folder_.Write(name, bytes)); }

  // A file with one tensor (2, 1) of float32.
  void WriteTensor(const std::string& file, const std::string& tensor) {
    Write(file, SafetensorsFile(Header({Entry(tensor, "F32", "[2,1]", 0, 8)}), Raw<float>({1, 2})));
  }

  absl::StatusOr<Checkpoint> Open() { return Checkpoint::Open(Folder()); }
  std::string Folder() const { return folder_.Path("."); }

  ScratchFolder folder_;
};

TEST_F(CheckpointTest, SingleFileHoldsAllTensors) {
  Write("model.safetensors",
        SafetensorsFile(Header({Entry("wte.weight", "BF16", "[2,3]", 0, 12), Entry("ln.bias", "F32", "[3]", 12, 24)}),
                        std::string(24, '\0')));

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());
  ASSERT_OK_AND_ASSIGN(const CheckpointTensor tensor, checkpoint.Find("wte.weight"));

  EXPECT_THAT(checkpoint.Names(), ElementsAre("ln.bias", "wte.weight"));
  EXPECT_TRUE(checkpoint.Has("ln.bias"));
  EXPECT_FALSE(checkpoint.Has("ln"));
  EXPECT_THAT(tensor.path, EndsWith("/model.safetensors"));
  EXPECT_EQ(tensor.dtype, "BF16");
  EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
}

TEST_F(CheckpointTest, IndexLeadsToTheShardAndOthersMayBeMissing) {
  Write(kIndex, R"({"metadata":{"total_size":-1,"x":[{"y":null}]},"weight_map":{
                    "a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})");
  WriteTensor("model-00002-of-00002.safetensors", "b");

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());
  ASSERT_OK_AND_ASSIGN(const CheckpointTensor tensor, checkpoint.Find("b"));

  EXPECT_TRUE(checkpoint.Has("a"));
  EXPECT_THAT(LoadTable({.path = tensor.path, .tensor = "b"}), IsOk());
}

TEST_F(CheckpointTest, MissingShardIsNamedWithItsTensor) {
  Write(kIndex, R"({"weight_map":{"a":"one.safetensors"}})");

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Find("a"),
              AllOf(StatusIs(absl::StatusCode::kNotFound,
                             AllOf(HasSubstr("/one.safetensors: cannot open the file: No such file"),
                                   EndsWith(R"(it should hold tensor "a")"))),
                    ReasonIs("FILE_NOT_FOUND")));
}

TEST_F(CheckpointTest, ShardOfALongNameIsNamedWithItsFolder) {
  Write(kIndex, absl::StrCat(R"({"weight_map":{"a":")", std::string(1000, 'x'), R"(.safetensors"}})"));

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Find("a"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(StartsWith(Folder()), HasSubstr("xxx…xxx"),
                             HasSubstr("xxx.safetensors: cannot open the file: File name too long"))));
}

TEST_F(CheckpointTest, ShardWithoutTheTensorOfTheIndexIsInvalid) {
  Write(kIndex, R"({"weight_map":{"a":"one.safetensors"}})");
  WriteTensor("one.safetensors", "b");

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Find("a"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"(one.safetensors: has no tensor "a")")),
                    ReasonIs("INVALID_FILE")));
}

TEST_F(CheckpointTest, SingleFileGoesBeforeTheIndex) {
  Write(kIndex, R"({"weight_map":{"sharded":"one.safetensors"}})");
  WriteTensor("model.safetensors", "single");

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Names(), ElementsAre("single"));
}

TEST_F(CheckpointTest, OnlySafetensorsFileIsTakenWhateverItsName) {
  WriteTensor("adapter.safetensors", "a");
  Write("pytorch_model.bin", "PK");

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());
  ASSERT_OK_AND_ASSIGN(const CheckpointTensor tensor, checkpoint.Find("a"));

  EXPECT_THAT(tensor.path, EndsWith("/adapter.safetensors"));
}

TEST_F(CheckpointTest, SeveralFilesWithoutIndexAreRefused) {
  WriteTensor("b.safetensors", "b");
  WriteTensor("a.safetensors", "a");

  EXPECT_THAT(Open(), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr(R"(has 2 .safetensors files ("a.safetensors", "b.safetensors"))")),
                            ReasonIs("INVALID_FILE")));
}

TEST_F(CheckpointTest, FilesThatAreLinksOutOfTheFolderAreRead) {
  const ScratchFolder blobs;
  std::filesystem::create_symlink(
      blobs.Write("0123abcd", SafetensorsFile(Header({Entry("a", "F32", "[1,1]", 0, 4)}), Raw<float>({1}))),
      folder_.Path("model.safetensors"));

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Find("a"), IsOk());
}

TEST_F(CheckpointTest, OtherFormatsAreUnimplementedWithTheWayOut) {
  for (const char* const name :
       {"pytorch_model.bin", "consolidated.00.pth", "model.pt", "last.ckpt", "tf_model.h5", "flax_model.msgpack"}) {
    SCOPED_TRACE(name);
    const ScratchFolder folder;
    static_cast<void>(folder.Write(name, "PK"));

    EXPECT_THAT(
        Checkpoint::Open(folder.Path(".")),
        AllOf(StatusIs(absl::StatusCode::kUnimplemented, AllOf(HasSubstr(absl::StrCat("\"", name, "\"")),
                                                               HasSubstr("convert the weights to safetensors"))),
              ReasonIs("UNSUPPORTED_FORMAT")));
  }
}

TEST_F(CheckpointTest, FolderWithoutWeightsAndNoFolderAreNotFound) {
  Write("config.json", "{}");

  EXPECT_THAT(Open(),
              AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr(": has no weights: neither model.safetensors")),
                    ReasonIs("FILE_NOT_FOUND")));
  EXPECT_THAT(Checkpoint::Open(folder_.Path("none")),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("cannot open the folder: No such file")));
  EXPECT_THAT(Checkpoint::Open(folder_.Path("config.json")),
              StatusIs(absl::StatusCode::kInvalidArgument, EndsWith("config.json: is not a folder")));
}

TEST_F(CheckpointTest, NamesThatCouldLeaveTheFolderAreRefused) {
  for (const char* const name : {"../a.safetensors", "/a.safetensors", "sub/a.safetensors", "..", ".", "",
                                 R"(..\\a.safetensors)", R"(a\u0000.safetensors)"}) {
    SCOPED_TRACE(name);
    Write(kIndex, absl::StrCat(R"({"weight_map":{"wte":")", name, R"("}})"));

    EXPECT_THAT(Open(), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                       AllOf(HasSubstr(absl::StrCat("/", kIndex, ": weight_map: tensor \"wte\": ")),
                                             EndsWith("must be the name of a file in the index's own folder"))),
                              ReasonIs("INVALID_FILE")));
  }
}

TEST_F(CheckpointTest, IndexOfPickledShardsIsUnimplemented) {
  Write(kIndex, R"({"weight_map":{"wte":"pytorch_model-00001-of-00002.bin"}})");

  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kUnimplemented,
                               HasSubstr(R"("pytorch_model-00001-of-00002.bin" is not a .safetensors file)")));
}

TEST_F(CheckpointTest, MalformedIndexIsInvalid) {
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "not valid JSON"},
           {"[]", "the index is not a JSON object but an array"},
           {"null", "the index is not a JSON object but null"},
           {"true", "the index is not a JSON object but true or false"},
           {"-1", "the index is not a JSON object but a number"},
           {"\"a\"", "the index is not a JSON object but a string"},
           {"{}{}", "byte 2: the text is not valid JSON"},
           {R"({"weight_map":{"a":"x.safetensors"})", "not valid JSON"},
           {"{\"weight_map\":{\"\xFF\":\"x.safetensors\"}}", "byte 16: the text is not valid JSON"},
           {"\xEF\xBB\xBF{}", "byte 0: the text is not valid JSON: a byte order mark"},
           {std::string("{}\0", 3), "byte 2: the text is not valid JSON: a zero byte"},
           {"{}", "the index has no weight_map"},
           {R"({"weight_map":[]})", "weight_map must be an object, got an array"},
           {R"({"weight_map":1})", "weight_map must be an object, got a number"},
           {R"({"weight_map":null})", "weight_map must be an object, got null"},
           {R"({"weight_map":"x.safetensors"})", "weight_map must be an object, got a string"},
           {R"({"weight_map":{"a":1}})", R"(weight_map: tensor "a" must be a string, got a number)"},
           {R"({"weight_map":{"a":-1.5}})", R"(weight_map: tensor "a" must be a string, got a number)"},
           {R"({"weight_map":{"a":null}})", R"(weight_map: tensor "a" must be a string, got null)"},
           {R"({"weight_map":{"a":false}})", R"(weight_map: tensor "a" must be a string, got true or false)"},
           {R"({"weight_map":{"a":{}}})", R"(weight_map: tensor "a" must be a string, got an object)"},
           {R"({"weight_map":{"a":["x"]}})", R"(weight_map: tensor "a" must be a string, got an array)"},
           {R"({"weight_map":{},"weight_map":{}})", "weight_map stands twice"},
           {R"({"weight_map":{"a":"x.safetensors","b":"x.safetensors","a":"x.safetensors"}})",
            R"(weight_map: tensor "a" stands twice)"}}) {
    SCOPED_TRACE(text);
    Write(kIndex, text);

    EXPECT_THAT(Open(),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)), ReasonIs("INVALID_FILE")));
  }
}

TEST_F(CheckpointTest, IndexOfMoreThan64MiBIsInvalid) {
  Write(kIndex, R"({"weight_map":{}})");
  std::filesystem::resize_file(folder_.Path(kIndex), (64 << 20) + 1);

  EXPECT_THAT(Open(), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                     HasSubstr("index.json: an index of 67108865 bytes exceeds 67108864")),
                            ReasonIs("INVALID_FILE")));
}

TEST_F(CheckpointTest, IndexWithoutTensorsIsOne) {
  Write(kIndex, R"({"weight_map":{}})");

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_EQ(checkpoint.size(), 0u);
  EXPECT_THAT(checkpoint.Find("a"), StatusIs(absl::StatusCode::kInvalidArgument, EndsWith("there are none")));
}

TEST_F(CheckpointTest, BrokenShardIsInvalidUnderItsOwnPath) {
  Write(kIndex, R"({"weight_map":{"a":"one.safetensors"}})");
  Write("one.safetensors", "x");

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Find("a"), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                                   HasSubstr("/one.safetensors: byte 1: the file ends within")),
                                          ReasonIs("INVALID_FILE")));
}

TEST_F(CheckpointTest, TensorOfMoreThanSixDimensionsIsUnimplemented) {
  Write("model.safetensors",
        SafetensorsFile(
            Header({Entry("six", "U8", "[1,1,1,1,1,1]", 0, 1), Entry("seven", "U8", "[1,1,1,1,1,1,1]", 1, 2)}), "xy"));

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Find("six"), IsOk());
  EXPECT_THAT(checkpoint.Find("seven"),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented,
                             HasSubstr(R"(tensor "seven": 7 dimensions are not served; up to 6 are)")),
                    ReasonIs("UNSUPPORTED_FORMAT")));
}

TEST_F(CheckpointTest, LinksThatLeadNowhereAreNotFound) {
  for (const std::string name : {"model.safetensors", kIndex}) {
    SCOPED_TRACE(name);
    const ScratchFolder folder;
    std::filesystem::create_symlink(folder.Path("gone"), folder.Path(name));

    EXPECT_THAT(Checkpoint::Open(folder.Path(".")),
                AllOf(StatusIs(absl::StatusCode::kNotFound,
                               HasSubstr(absl::StrCat("/", name, ": cannot open the file: No such file"))),
                      ReasonIs("FILE_NOT_FOUND")));
  }
}

TEST_F(CheckpointTest, PathWithAZeroByteIsNotCutThere) {
  WriteTensor("model.safetensors", "a");

  EXPECT_THAT(Checkpoint::Open(Folder() + std::string("\0", 1)),
              AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("its path contains a zero byte")),
                    ReasonIs("FILE_NOT_FOUND")));
}

TEST_F(CheckpointTest, UnknownTensorListsTenNamesAndTheirNumber) {
  std::string map;
  for (int i = 10; i < 22; ++i) absl::StrAppend(&map, i == 10 ? "" : ",", "\"t", i, "\":\"x.safetensors\"");
  Write(kIndex, absl::StrCat("{\"weight_map\":{", map, "}}"));

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());

  EXPECT_THAT(checkpoint.Find("wte"), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                                     AllOf(HasSubstr(R"(no tensor "wte"; there are "t10", "t11")"),
                                                           EndsWith(R"("t19", … (12 in all))"))),
                                            ReasonIs("TENSOR_NOT_FOUND")));
}

// A damaged single file is told as what it is, not passed over.
TEST_F(CheckpointTest, BrokenSingleFileIsInvalid) {
  Write("model.safetensors", "x");

  EXPECT_THAT(Open(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("/model.safetensors: byte 1: ")));
}

TEST_F(CheckpointTest, UnservedTypesDoNotMatterUntilTheyAreWanted) {
  Write("model.safetensors",
        SafetensorsFile(Header({Entry("scale", "F8_E4M3", "[4]", 0, 4), Entry("packed", "F4", "[8]", 4, 8),
                                Entry("fft", "C64", "[1]", 8, 16), Entry("index", "U16", "[2]", 16, 20),
                                Entry("wte", "F16", "[1,2]", 20, 24)}),
                        std::string(24, '\0')));

  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, Open());
  ASSERT_OK_AND_ASSIGN(const CheckpointTensor wanted, checkpoint.Find("wte"));
  ASSERT_OK_AND_ASSIGN(const CheckpointTensor other, checkpoint.Find("packed"));

  EXPECT_THAT(LoadTable({.path = wanted.path, .tensor = "wte"}), IsOk());
  EXPECT_EQ(other.dtype, "F4");
  EXPECT_THAT(LoadTable({.path = wanted.path, .tensor = "fft"}),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("dtype C64 is not served")));
}

}  // namespace
}  // namespace embd::formats
