// How a repository follows another configuration, and what it loads at the start.

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "server/app/model_repository.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using service::LoadedModel;
using service::ReloadReport;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using State = service::ModelControl::State;

config::ModelConfig Seeded(const std::string& name, std::uint64_t seed = 0) {
  return {.name = name, .token = config::SeededTokens{.vocab_size = 10, .embedding_dim = 4, .rows = {.seed = seed}}};
}

auto Named(const std::string& name) { return Field("name", &LoadedModel::name, name); }

class FollowTest : public ::testing::Test {
 protected:
  ModelRepository& Repository(std::vector<config::ModelConfig> models, std::int64_t memory = std::int64_t{1} << 20) {
    config::ServerConfig config;
    config.explicit_model_control = true;
    config.models = std::move(models);
    repository_ = std::make_unique<ModelRepository>(
        config, TableBudget(memory), &models_, &statistics_,
        [this](const std::string& name, bool serving) { changes_.emplace_back(name, serving); });
    return *repository_;
  }

  ReloadReport Follow(const std::vector<config::ModelConfig>& models) {
    ReloadReport report;
    repository_->Follow(models, report);
    return report;
  }

  config::ModelConfig FileModel(float value = 1.5f) {
    std::filesystem::rename(folder_.Write("next", formats::Raw(std::vector<float>(40, value))), folder_.Path("t.bin"));
    const config::RawLayout layout = {.dtype = config::StoredType::kFloat32, .rows = 10, .columns = 4};
    return {.name = "file", .token = config::TableFile{.path = folder_.Path("t.bin"), .raw = layout}};
  }

  std::int64_t Generation(const std::string& name) const { return models_.Find(name, "").value()->generation(); }

  formats::ScratchFolder folder_;
  core::ModelRegistry models_;
  service::Statistics statistics_;
  std::vector<std::pair<std::string, bool>> changes_;
  std::unique_ptr<ModelRepository> repository_;
};

TEST_F(FollowTest, SameConfigurationChangesNothing) {
  const std::vector<config::ModelConfig> models = {Seeded("a"), FileModel()};
  ASSERT_THAT(Repository(models).LoadAll(), IsOk());
  changes_.clear();

  const ReloadReport report = Follow(models);

  EXPECT_THAT(report.unchanged, ElementsAre("a", "file"));
  EXPECT_THAT(report.loaded, IsEmpty());
  EXPECT_THAT(report.reloaded, IsEmpty());
  EXPECT_THAT(changes_, IsEmpty());
}

TEST_F(FollowTest, NewModelIsLoadedAndOneThatIsGoneForgotten) {
  ASSERT_THAT(Repository({Seeded("a"), Seeded("b")}).LoadAll(), IsOk());
  changes_.clear();

  const ReloadReport report = Follow({Seeded("b"), Seeded("c")});

  EXPECT_THAT(report.loaded, ElementsAre(AllOf(Named("c"), Field(&LoadedModel::generation, 1))));
  EXPECT_THAT(report.unloaded, ElementsAre("a"));
  EXPECT_THAT(report.unchanged, ElementsAre("b"));
  EXPECT_THAT(changes_, ElementsAre(Pair("c", false), Pair("a", false), Pair("c", true)));
  EXPECT_THAT(models_.Find("a", ""), ReasonIs("MODEL_NOT_FOUND"));
  EXPECT_THAT(repository_->Load("a"), ReasonIs("MODEL_NOT_FOUND"));
  EXPECT_EQ(repository_->Index().size(), 2u);
}

TEST_F(FollowTest, ModelThatComesBackGoesOnCounting) {
  ASSERT_THAT(Repository({Seeded("a"), Seeded("b")}).LoadAll(), IsOk());
  Follow({Seeded("b")});

  const ReloadReport report = Follow({Seeded("b"), Seeded("a")});

  EXPECT_THAT(report.loaded, ElementsAre(AllOf(Named("a"), Field(&LoadedModel::generation, 2))));
}

TEST_F(FollowTest, ChangedConfigurationIsLoadedAnewAndTellsItsChecksum) {
  ASSERT_THAT(Repository({Seeded("a", 1)}).LoadAll(), IsOk());

  const ReloadReport report = Follow({Seeded("a", 2)});

  const auto served = models_.Find("a", "").value();
  EXPECT_THAT(report.reloaded, ElementsAre(AllOf(Named("a"), Field(&LoadedModel::generation, 2),
                                                 Field(&LoadedModel::checksum, served->checksum()))));
  EXPECT_EQ(served->generation(), 2);
}

TEST_F(FollowTest, ChangedFileIsLoadedAnew) {
  const config::ModelConfig model = FileModel(1.5f);
  ASSERT_THAT(Repository({model}).LoadAll(), IsOk());

  FileModel(2.5f);
  const ReloadReport report = Follow({model});

  EXPECT_THAT(report.reloaded, ElementsAre(Named("file")));
  EXPECT_THAT(Follow({model}).unchanged, ElementsAre("file"));
}

TEST_F(FollowTest, WhetherAModelIsRequiredDoesNotLoadItAnew) {
  config::ModelConfig model = Seeded("a");
  ASSERT_THAT(Repository({model}).LoadAll(), IsOk());
  model.required = false;

  EXPECT_THAT(Follow({model}).unchanged, ElementsAre("a"));
}

TEST_F(FollowTest, FailureKeepsTheOldAndEveryOtherModelIsFollowed) {
  const config::ModelConfig file = FileModel();
  ASSERT_THAT(Repository({file, Seeded("a", 1)}).LoadAll(), IsOk());
  const auto served = models_.Find("file", "").value();
  std::filesystem::resize_file(folder_.Path("t.bin"), 7);

  const ReloadReport report = Follow({file, Seeded("a", 2)});

  ASSERT_THAT(report.failures, ElementsAre(Field(&ReloadReport::Failure::model, "file")));
  EXPECT_THAT(report.failures[0].status, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("t.bin")));
  EXPECT_THAT(report.reloaded, ElementsAre(Named("a")));
  EXPECT_EQ(models_.Find("file", "").value(), served);
  FileModel(3.5f);
  EXPECT_THAT(Follow({file, Seeded("a", 2)}).reloaded, ElementsAre(Named("file"))) << "it is tried again";
}

TEST_F(FollowTest, ModelThatCouldNotBeLoadedIsTriedAgain) {
  config::ModelConfig file = FileModel();
  file.required = false;
  std::filesystem::remove(folder_.Path("t.bin"));
  ASSERT_THAT(Repository({file}).LoadAll(), IsOk());
  EXPECT_THAT(Follow({file}).failures, ElementsAre(Field(&ReloadReport::Failure::model, "file")));

  FileModel();
  EXPECT_THAT(Follow({file}).loaded, ElementsAre(AllOf(Named("file"), Field(&LoadedModel::generation, 1))));
}

TEST_F(FollowTest, UnloadedModelStaysOutUntilItChanges) {
  ASSERT_THAT(Repository({Seeded("a", 1)}).LoadAll(), IsOk());
  ASSERT_THAT(repository_->Unload("a"), IsOk());

  EXPECT_THAT(Follow({Seeded("a", 1)}).unchanged, ElementsAre("a"));
  EXPECT_THAT(models_.Find("a", ""), ReasonIs("MODEL_NOT_LOADED"));
  EXPECT_THAT(Follow({Seeded("a", 2)}).loaded, ElementsAre(Named("a")));
}

// What is named no more makes room for what is new.
TEST_F(FollowTest, MemoryOfWhatIsGoneIsFreeForWhatIsNew) {
  ASSERT_THAT(Repository({Seeded("a")}, /*memory=*/160).LoadAll(), IsOk());

  EXPECT_THAT(Follow({Seeded("b")}).loaded, ElementsAre(Named("b")));
  const ReloadReport report = Follow({Seeded("b", 2)});
  ASSERT_THAT(report.failures, ElementsAre(_)) << "old and new are there at once";
  EXPECT_THAT(report.failures[0].status, ReasonIs("OUT_OF_MEMORY"));
}

TEST_F(FollowTest, RequiredModelsAreLoadedBeforeTheOthers) {
  config::ModelConfig other = Seeded("a");
  other.required = false;
  ModelRepository& repository = Repository({other, Seeded("b"), Seeded("c")});
  std::size_t loaded_when_ready = 0;

  EXPECT_THAT(repository.LoadAll([&] { loaded_when_ready = changes_.size(); }), IsOk());

  EXPECT_EQ(loaded_when_ready, 2u);
  EXPECT_THAT(changes_, ElementsAre(Pair("b", true), Pair("c", true), Pair("a", true)));
}

TEST_F(FollowTest, RequiredModelThatCannotBeLoadedEndsTheStartAndAnotherOneDoesNot) {
  config::ModelConfig file = FileModel();
  std::filesystem::remove(folder_.Path("t.bin"));
  bool ready = false;
  EXPECT_THAT(Repository({file, Seeded("a")}).LoadAll([&] { ready = true; }), ReasonIs("FILE_NOT_FOUND"));
  EXPECT_FALSE(ready);

  file.required = false;
  EXPECT_THAT(Repository({file, Seeded("a")}).LoadAll([&] { ready = true; }), IsOk());
  EXPECT_TRUE(ready);
  const auto index = repository_->Index();
  EXPECT_EQ(index[1].state, State::kUnavailable);
  EXPECT_THAT(index[1].reason, HasSubstr("t.bin"));
  EXPECT_THAT(models_.Find("file", ""), ReasonIs("MODEL_NOT_LOADED"));
}

TEST_F(FollowTest, ModelIsLoadingUntilItIsLoadedFirst) {
  Repository({Seeded("a")});

  EXPECT_THAT(models_.Find("a", ""), AllOf(StatusIs(absl::StatusCode::kUnavailable, "model \"a\" is not loaded yet"),
                                           ReasonIs("MODEL_LOADING")));
}

TEST_F(FollowTest, NoLoadBeginsAfterStop) {
  ModelRepository& repository = Repository({Seeded("a"), Seeded("b")});
  ASSERT_THAT(repository.Load("a"), IsOk());

  repository.Stop();

  EXPECT_THAT(repository.Load("a"), ReasonIs("STOPPING"));
  EXPECT_THAT(repository.LoadAll(), ReasonIs("STOPPING"));
  EXPECT_FALSE(repository.IsLoading());
  EXPECT_EQ(Generation("a"), 1);
}

TEST_F(FollowTest, LoadThatEndedAfterItWasAskedForIsShared) {
  ModelRepository& repository = Repository({Seeded("a")});
  const auto asked = ModelRepository::Clock::now();
  ASSERT_THAT(repository.Load("a"), IsOk());

  EXPECT_EQ(repository.LoadSince("a", asked).value().generation, 1);
  EXPECT_EQ(repository.Load("a").value().generation, 2);
}

}  // namespace
}  // namespace embd::app
