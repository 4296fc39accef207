#include "server/formats/load_table.h"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/error.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

absl::StatusOr<LoadedTable> Load(const std::string& path, const std::string& tensor = "",
                                 const std::string& vocabulary = "") {
  return LoadTable({.path = path, .tensor = tensor, .vocabulary = vocabulary});
}

std::string TwoRowsNpy() { return NpyFile(NpyDict("'<f4'", "(2, 1)"), Raw<float>({1, 2})); }

class LoadTableTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
};

TEST_F(LoadTableTest, EndingDecidesInAnyCase) {
  const std::string safetensors = SafetensorsFile(Header({Entry("a", "F32", "[2,1]", 0, 8)}), Raw<float>({1, 2}));
  for (const auto& [name, bytes] : std::vector<std::pair<std::string, std::string>>{{"t.npy", TwoRowsNpy()},
                                                                                    {"t.NPY", TwoRowsNpy()},
                                                                                    {"t.safetensors", safetensors},
                                                                                    {"t.txt", "a 1\nb 2\n"},
                                                                                    {"t.vec", "2 1\na 1\nb 2\n"},
                                                                                    {"t.glove", "a 1\nb 2\n"}}) {
    SCOPED_TRACE(name);

    ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load(folder_.Write(name, bytes)));

    EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({1, 2}));
    EXPECT_THAT(loaded.warnings, IsEmpty());
  }
}

TEST_F(LoadTableTest, OtherEndingIsUnimplemented) {
  const std::string path = folder_.Write("table.onnx", "ONNX");

  EXPECT_THAT(Load(path), AllOf(StatusIs(absl::StatusCode::kUnimplemented,
                                         AllOf(StartsWith(path + ": the ending \".onnx\" is not served; "),
                                               HasSubstr(".npy, .safetensors, .gguf, .bin, .txt"))),
                                ReasonIs("UNSUPPORTED_FORMAT")));
}

TEST_F(LoadTableTest, MessagesBeginWithThePathAndKeepTheReason) {
  const std::string missing = folder_.Path("none.npy");
  const std::string bad = folder_.Write("bad.safetensors", "x");

  EXPECT_THAT(Load(missing),
              AllOf(StatusIs(absl::StatusCode::kNotFound, StartsWith(missing + ": cannot open the file: No such file")),
                    ReasonIs("FILE_NOT_FOUND")));
  EXPECT_THAT(Load(bad), AllOf(StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(bad + ": byte 1: ")),
                               ReasonIs("INVALID_FILE")));
}

TEST_F(LoadTableTest, FolderIsRefusedWhateverItsName) {
  const std::string path = folder_.Path("model.npy");
  std::filesystem::create_directory(path);

  EXPECT_THAT(Load(path), StatusIs(absl::StatusCode::kInvalidArgument, path + ": is a folder, not a regular file"));
}

TEST_F(LoadTableTest, StrangePathsAreEscapedAndCut) {
  EXPECT_THAT(Load("/no\nsuch.npy"), StatusIs(absl::StatusCode::kNotFound, StartsWith("/no\\nsuch.npy: ")));
  EXPECT_THAT(Load(""), StatusIs(absl::StatusCode::kNotFound, StartsWith("\"\": ")));
  EXPECT_THAT(Load(std::string(100'000, 'x') + ".npy"),
              StatusIs(absl::StatusCode::kNotFound,
                       AllOf(StartsWith("xxx"), HasSubstr("xxx…xxx"), HasSubstr("xxx.npy: cannot open"))));
}

TEST_F(LoadTableTest, TensorNameNeedsASafetensorsFile) {
  EXPECT_THAT(Load(folder_.Write("t.npy", TwoRowsNpy()), "wte"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"(no tensor "wte")")),
                    ReasonIs("TENSOR_NOT_FOUND")));
}

TEST_F(LoadTableTest, NpyHasNoWordsByItself) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load(folder_.Write("t.npy", TwoRowsNpy())));

  EXPECT_FALSE(loaded.vocabulary.has_value());
}

TEST_F(LoadTableTest, TextBringsItsWords) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load(folder_.Write("t.txt", "king 1\nqueen 2\n")));

  ASSERT_TRUE(loaded.vocabulary.has_value());
  EXPECT_EQ(loaded.vocabulary->Find("queen"), 1);
}

TEST_F(LoadTableTest, VocabularyFileNamesTheRows) {
  const std::string table = folder_.Write("t.npy", TwoRowsNpy());
  for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
           {"v.txt", "king\nqueen\n"}, {"v.json", R"(["king","queen"])"}, {"v2.json", R"({"queen":1,"king":0})"}}) {
    SCOPED_TRACE(name);

    ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load(table, "", folder_.Write(name, text)));

    ASSERT_TRUE(loaded.vocabulary.has_value());
    EXPECT_EQ(loaded.vocabulary->Find("queen"), 1);
  }
}

TEST_F(LoadTableTest, VocabularyFileGoesBeforeTheWordsOfTheText) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded,
                       Load(folder_.Write("t.txt", "king 1\nqueen 2\n"), "", folder_.Write("v", "roi\nreine\n")));

  EXPECT_EQ(loaded.vocabulary->word(1), "reine");
  EXPECT_EQ(loaded.vocabulary->Find("queen"), std::nullopt);
}

TEST_F(LoadTableTest, VocabularyOfAnotherSizeIsRefusedUnderItsOwnPath) {
  const std::string vocabulary = folder_.Write("v.txt", "a\nb\nc\n");

  EXPECT_THAT(Load(folder_.Write("t.npy", TwoRowsNpy()), "", vocabulary),
              StatusIs(absl::StatusCode::kInvalidArgument, vocabulary + ": has 3 words, the table has 2 rows"));
}

TEST_F(LoadTableTest, MissingVocabularyIsNamedBeforeTheTableIsRead) {
  const std::string vocabulary = folder_.Path("none.txt");

  EXPECT_THAT(Load(folder_.Write("t.npy", "not a table"), "", vocabulary),
              StatusIs(absl::StatusCode::kNotFound, StartsWith(vocabulary + ": ")));
}

TEST_F(LoadTableTest, WordsThatStandTwiceAreAWarning) {
  const std::string path = folder_.Write("t.txt", "a 1\nb 2\na 3\na 4\n");

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load(path));

  EXPECT_THAT(loaded.warnings,
              ElementsAre(path + ": 2 words stand at an earlier place already and will be found there"));
  EXPECT_EQ(loaded.vocabulary->Find("a"), 0);
}

TEST_F(LoadTableTest, TableIsReservedBeforeItIsReadAndNotReadWhereThatIsRefused) {
  const std::vector<TableRequest> requests = {
      {.path = folder_.Write("t.npy", NpyFile(NpyDict("'<f4'", "(2, 3)"), std::string(24, 'a')))},
      {.path = folder_.Write("f.npy", NpyFile(NpyDict("'<f4'", "(2, 3)", true), std::string(24, 'a')))},
      {.path = folder_.Write("t.safetensors",
                             SafetensorsFile(Header({Entry("a", "BF16", "[2,6]", 0, 24)}), std::string(24, 'a')))},
      {.path = folder_.Write("t.gguf", GgufBytes({.tensors = {GgufEntry("token_embd.weight", {3, 2}, 0, 0)},
                                                  .data = std::string(24, 'a')}))},
      {.path = folder_.Write("t.bin", std::string(24, 'a')), .layout = RawLayout{core::ElementType::kFloat64, 3, 1}},
      {.path = folder_.Write("t.txt", "a 1 2 3\nb 4 5 6\n")}};
  for (TableRequest request : requests) {
    SCOPED_TRACE(request.path);
    std::size_t asked = 0;
    request.reserve = [&asked](std::size_t bytes) {
      asked = bytes;
      return core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY", "too much");
    };

    EXPECT_THAT(LoadTable(request), AllOf(StatusIs(absl::StatusCode::kResourceExhausted, request.path + ": too much"),
                                          ReasonIs("OUT_OF_MEMORY")));
    EXPECT_EQ(asked, 24u);
  }
}

// Quantised rows are reserved as what they become.
TEST_F(LoadTableTest, QuantisedRowsAreReservedAsFloat32) {
  const std::string path = folder_.Write(
      "t.gguf", GgufBytes({.tensors = {GgufEntry("token_embd.weight", {32, 2}, 8, 0)}, .data = std::string(68, '\1')}));
  std::size_t asked = 0;

  EXPECT_THAT(LoadTable({.path = path,
                         .reserve =
                             [&asked](std::size_t bytes) {
                               asked = bytes;
                               return core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY", "too much");
                             }}),
              ReasonIs("OUT_OF_MEMORY"));
  EXPECT_EQ(asked, 2u * 32 * 4);
}

TEST_F(LoadTableTest, FileWithoutEndingAndNamesOfTensorsAreTold) {
  EXPECT_THAT(Load(folder_.Write("table", "x")),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(": a file without ending is not served; ")),
                    ReasonIs("UNSUPPORTED_FORMAT")));
  for (const std::string name : {"t.npy", "t.bin", "t.txt", "t.vec", "t.glove"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(Load(folder_.Write(name, "x"), "wte"),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("only .safetensors and .gguf files have")),
                      ReasonIs("TENSOR_NOT_FOUND")));
  }
}

// However a writer and the loader meet, the answer is a table of the one content or the other, or an error.
TEST_F(LoadTableTest, FileThatIsRewrittenMeanwhileNeverCrashes) {
  constexpr std::size_t kCount = 300'000;
  const std::string table = NpyFile(NpyDict("'<f4'", "(300000, 1)", true), std::string(kCount * 4, 'a'));
  const std::string path = folder_.Write("t.npy", table);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    while (!stop) {
      std::filesystem::resize_file(path, table.size() / 2);
      static_cast<void>(folder_.Write("t.npy", table));
    }
  });

  for (int i = 0; i < 300; ++i) {
    const auto loaded = Load(path);
    if (loaded.ok()) {
      EXPECT_EQ(ElementBits<std::uint32_t>(loaded->table), std::vector<std::uint32_t>(kCount, 0x61616161u));
    } else {
      EXPECT_THAT(loaded, StatusIs(absl::StatusCode::kInvalidArgument, StartsWith(path + ": ")));
    }
  }

  stop = true;
  writer.join();
}

}  // namespace
}  // namespace embd::formats
