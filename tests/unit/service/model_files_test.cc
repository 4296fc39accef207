#include "server/app/model_files.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "tests/support/eventually.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::app {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;
using ::testing::Ne;

auto At(const std::string& path) { return Field("path", &FileStamp::path, path); }

TEST(StampFiles, EveryNamedFileHasAStampInOrderOfPath) {
  const formats::ScratchFolder folder;
  config::ModelConfig model = {.name = "m"};
  model.token = config::TableFile{.path = folder.Write("t.npy", "t"), .vocabulary = folder.Write("a.vocab", "a")};
  model.position = config::LearnedPositions{.source = config::TableFile{.path = folder.Write("p.npy", "p")}};
  model.token_types = config::TokenTypes{.source = config::TableFile{.path = folder.Write("s.npy", "s")}};
  model.layer_norm = config::LayerNorm{.weight = config::TableFile{.path = folder.Write("w.npy", "w")},
                                       .bias = config::TableFile{.path = folder.Write("b.npy", "b")}};
  model.output.bias = config::TableFile{.path = folder.Write("o.npy", "o")};

  EXPECT_THAT(StampFiles(model),
              ElementsAre(At(folder.Path("a.vocab")), At(folder.Path("b.npy")), At(folder.Path("o.npy")),
                          At(folder.Path("p.npy")), At(folder.Path("s.npy")), At(folder.Path("t.npy")),
                          At(folder.Path("w.npy"))));
}

TEST(StampFiles, ComputedModelHasNone) {
  const config::ModelConfig model = {.name = "m", .token = config::SeededTokens{.vocab_size = 1, .embedding_dim = 1}};

  EXPECT_THAT(StampFiles(model), IsEmpty());
}

TEST(StampFiles, FolderStandsForItsRegularFilesAndThoseOfFoldersInIt) {
  const formats::ScratchFolder folder;
  std::string path = folder.Write("modules.json", "[]");
  std::filesystem::create_directories(folder.Path("0_Transformer/deeper"));
  ASSERT_EQ(folder.Write("0_Transformer/model.safetensors", ""), folder.Path("0_Transformer/model.safetensors"));
  ASSERT_EQ(folder.Write("0_Transformer/deeper/other", ""), folder.Path("0_Transformer/deeper/other"));
  path.resize(path.rfind('/'));

  EXPECT_THAT(StampFiles({.name = "m", .path = path}),
              ElementsAre(At(path + "/0_Transformer/model.safetensors"), At(path + "/modules.json")));
}

TEST(StampFiles, NewContentWithTheOldSizeAndTimeIsSeen) {
  const formats::ScratchFolder folder;
  const std::string path = folder.Write("t.npy", "12");
  const config::ModelConfig model = {.name = "m", .token = config::TableFile{.path = path}};
  const auto before = StampFiles(model);
  const auto time = std::filesystem::last_write_time(path);

  // The clock of a file system may stand still for a moment, in which a change is not seen.
  EXPECT_TRUE(embd::testing::Eventually([&] {
    if (folder.Write("t.npy", "34") != path) return false;
    std::filesystem::last_write_time(path, time);
    return StampFiles(model) != before;
  }));
}

TEST(StampFiles, IndexBringsTheFilesBesideIt) {
  const formats::ScratchFolder folder;
  const std::string index = folder.Write("m.index.json", "{}");
  const std::string shard = folder.Write("m-1.safetensors", "");

  EXPECT_THAT(StampFiles({.name = "m", .token = config::TableFile{.path = index}}), ElementsAre(At(shard), At(index)));
}

TEST(StampFiles, ChangeOfContentReplacementAndRemovalAreSeen) {
  const formats::ScratchFolder folder;
  const config::ModelConfig model = {.name = "m", .token = config::TableFile{.path = folder.Write("t.npy", "1")}};
  const auto first = StampFiles(model);
  EXPECT_EQ(StampFiles(model), first);

  ASSERT_EQ(folder.Write("t.npy", "12"), folder.Path("t.npy"));
  const auto longer = StampFiles(model);
  EXPECT_THAT(longer, Ne(first));
  std::filesystem::rename(folder.Write("other", "34"), folder.Path("t.npy"));
  std::filesystem::last_write_time(folder.Path("t.npy"),
                                   std::filesystem::last_write_time(folder.Path("t.npy")) - std::chrono::hours(1));
  const auto replaced = StampFiles(model);
  EXPECT_THAT(replaced, Ne(longer));
  std::filesystem::remove(folder.Path("t.npy"));
  EXPECT_THAT(StampFiles(model), ElementsAre(FileStamp{.path = folder.Path("t.npy")}));
}

}  // namespace
}  // namespace embd::app
