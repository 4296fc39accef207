#include "server/app/model_repository.h"

#include <filesystem>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/resting_thread.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::RestingThread;
using ::embd::testing::StatusIs;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using State = service::ModelControl::State;

constexpr std::int64_t kTableBytes = 10 * 4 * 4;  // of each model below

config::ModelConfig Seeded(const std::string& name) {
  return {.name = name, .token = config::SeededTokens{.vocab_size = 10, .embedding_dim = 4}};
}

auto Is(const std::string& name, State state, const ::testing::Matcher<const std::string&>& reason) {
  using Entry = service::ModelControl::Entry;
  return AllOf(Field("name", &Entry::name, name), Field("version", &Entry::version, "1"),
               Field("state", &Entry::state, state), Field("reason", &Entry::reason, reason));
}

class ModelRepositoryTest : public ::testing::Test {
 protected:
  // Models "b" and "a", and "file" where its table has been written.
  ModelRepository& Repository(bool is_explicit = true, std::int64_t memory = std::int64_t{1} << 20) {
    config::ServerConfig config;
    config.explicit_model_control = is_explicit;
    config.models = {Seeded("b"), Seeded("a")};
    if (const std::string path = folder_.Path("t.bin"); std::filesystem::exists(path)) {
      const config::RawLayout layout = {.dtype = config::StoredType::kFloat32, .rows = 10, .columns = 4};
      config.models.push_back({.name = "file", .token = config::TableFile{.path = path, .raw = layout}});
    }
    budget_ = TableBudget(memory);
    repository_ =
        std::make_unique<ModelRepository>(config, budget_, &models_, &statistics_,
                                          [this](const std::string& name, bool serving) { Changed(name, serving); });
    return *repository_;
  }

  void WriteTable(std::size_t rows = 10) {
    ASSERT_EQ(folder_.Write("t.bin", formats::Raw(std::vector<float>(rows * 4, 1.5f))), folder_.Path("t.bin"));
  }

  void Changed(const std::string& name, bool serving) {
    {
      const core::MutexLock lock(&mutex_);
      changes_.emplace_back(name, serving);
    }
    if (on_change_) on_change_();
  }

  // The first change sets `changed_`, and the call that made it goes on once `go_on_` is set.
  void HoldFirstChange() {
    on_change_ = [this] {
      if (changes_.size() > 1) return;
      changed_.set_value();
      go_on_.get_future().wait();
    };
  }

  std::int64_t Generation(const std::string& name) const { return models_.Find(name, "").value()->generation(); }

  formats::ScratchFolder folder_;
  core::ModelRegistry models_;
  service::Statistics statistics_;
  core::Mutex mutex_;  // of changes_ while several threads load and unload
  std::vector<std::pair<std::string, bool>> changes_;
  std::function<void()> on_change_;
  std::promise<void> changed_, go_on_;  // of HoldFirstChange
  TableBudget budget_{0};
  std::unique_ptr<ModelRepository> repository_;
};

TEST_F(ModelRepositoryTest, AllModelsAreLoadedInTheOrderOfTheConfigurationWhateverTheControl) {
  EXPECT_THAT(Repository(/*is_explicit=*/false).LoadAll(), IsOk());

  EXPECT_THAT(changes_, ElementsAre(Pair("b", true), Pair("a", true)));
  EXPECT_THAT(repository_->Index(), ElementsAre(Is("a", State::kReady, ""), Is("b", State::kReady, "")));
  EXPECT_EQ(Generation("a"), 1);
}

TEST_F(ModelRepositoryTest, ControlThatIsOffIsRefusedBeforeTheNameIsLookedAt) {
  ModelRepository& repository = Repository(/*is_explicit=*/false);
  ASSERT_THAT(repository.LoadAll(), IsOk());

  const auto refused = AllOf(StatusIs(absl::StatusCode::kFailedPrecondition,
                                      "explicit model load / unload is not allowed: server.model_control is none"),
                             ReasonIs("MODEL_CONTROL_OFF"));
  EXPECT_THAT(repository.Load("a"), refused);
  EXPECT_THAT(repository.Unload("a"), refused);
  EXPECT_THAT(repository.Unload("unknown"), refused);
  EXPECT_THAT(models_.Find("a", ""), IsOk());
}

TEST_F(ModelRepositoryTest, NameThatIsNotConfiguredIsNotFound) {
  ModelRepository& repository = Repository();

  const auto refused = AllOf(StatusIs(absl::StatusCode::kNotFound, "the configuration names no model \"c\""),
                             ReasonIs("MODEL_NOT_FOUND"));
  EXPECT_THAT(repository.Load("c"), refused);
  EXPECT_THAT(repository.Unload("c"), refused);
  EXPECT_THAT(repository.Load(""), ReasonIs("MODEL_NOT_FOUND"));
}

TEST_F(ModelRepositoryTest, UnloadedModelIsToldAndNamedAsSuch) {
  ModelRepository& repository = Repository();
  ASSERT_THAT(repository.LoadAll(), IsOk());
  changes_.clear();

  EXPECT_THAT(repository.Unload("a"), IsOk());
  EXPECT_THAT(repository.Unload("a"), IsOk()) << "it is not served, which is what was asked for";

  EXPECT_THAT(changes_, ElementsAre(Pair("a", false)));
  EXPECT_THAT(repository.Index(), ElementsAre(Is("a", State::kUnavailable, "unloaded"), Is("b", State::kReady, "")));
  EXPECT_THAT(models_.Find("a", ""),
              AllOf(StatusIs(absl::StatusCode::kUnavailable, "model \"a\" is not loaded: it was unloaded"),
                    ReasonIs("MODEL_NOT_LOADED")));
}

TEST_F(ModelRepositoryTest, GenerationCountsLoadsAlsoAfterUnload) {
  ModelRepository& repository = Repository();
  EXPECT_THAT(repository.Index(), ElementsAre(Is("a", State::kUnavailable, "not loaded yet"), _));

  ASSERT_THAT(repository.LoadAll(), IsOk());
  ASSERT_THAT(repository.Load("a"), IsOk());
  EXPECT_EQ(Generation("a"), 2);
  ASSERT_THAT(repository.Unload("a"), IsOk());
  ASSERT_THAT(repository.Load("a"), IsOk());

  EXPECT_EQ(Generation("a"), 3);
  EXPECT_EQ(Generation("b"), 1);
  EXPECT_THAT(repository.Index(), ElementsAre(Is("a", State::kReady, ""), _));
}

TEST_F(ModelRepositoryTest, FailedLoadKeepsWhatIsServed) {
  WriteTable();
  ModelRepository& repository = Repository();
  ASSERT_THAT(repository.LoadAll(), IsOk());
  const auto served = models_.Find("file", "").value();
  changes_.clear();

  std::filesystem::remove(folder_.Path("t.bin"));
  EXPECT_THAT(repository.Load("file"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("model \"file\": ")));
  WriteTable(/*rows=*/9);
  EXPECT_THAT(repository.Load("file"), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("t.bin")));

  EXPECT_EQ(models_.Find("file", "").value(), served);
  EXPECT_THAT(repository.Index(), ElementsAre(_, _, Is("file", State::kReady, "")));
  EXPECT_THAT(changes_, IsEmpty());
  WriteTable();
  EXPECT_THAT(repository.Load("file"), IsOk());
  EXPECT_EQ(Generation("file"), 2) << "loads that failed do not count";
}

TEST_F(ModelRepositoryTest, FailedLoadOfWhatIsNotServedIsTheReasonInTheIndex) {
  WriteTable();
  ModelRepository& repository = Repository();
  ASSERT_THAT(repository.LoadAll(), IsOk());
  ASSERT_THAT(repository.Unload("file"), IsOk());
  std::filesystem::remove(folder_.Path("t.bin"));

  const absl::Status status = repository.Load("file").status();

  EXPECT_THAT(repository.Index(), ElementsAre(_, _, Is("file", State::kUnavailable, std::string(status.message()))));
  EXPECT_THAT(repository.Unload("file"), IsOk());
}

TEST_F(ModelRepositoryTest, LoadsOfOneModelAtATimeRunOnce) {
  ModelRepository& repository = Repository();
  HoldFirstChange();
  {
    const RestingThread first([&] { EXPECT_THAT(repository.Load("a"), IsOk()); });
    changed_.get_future().wait();
    EXPECT_THAT(repository.Index(), ElementsAre(Is("a", State::kLoading, "loading"), _));

    const RestingThread second([&] { EXPECT_THAT(repository.Load("a"), IsOk()); });
    const RestingThread third([&] { EXPECT_THAT(repository.Load("a"), IsOk()); });
    EXPECT_TRUE(second.Rests() && third.Rests());
    go_on_.set_value();
  }

  EXPECT_THAT(changes_, ElementsAre(Pair("a", true)));
  EXPECT_EQ(Generation("a"), 1);
}

TEST_F(ModelRepositoryTest, LoadThatHasReadAFileBeforeItChangedIsNotSharedWithWhoAskedBeforeItEnded) {
  WriteTable();
  ModelRepository& repository = Repository();
  HoldFirstChange();
  absl::StatusOr<service::LoadedModel> of_old, of_new;
  {
    const RestingThread first([&] { of_old = repository.Load("file"); });
    changed_.get_future().wait();
    const std::string old = folder_.Path("t.bin");
    std::filesystem::rename(folder_.Write("new.bin", formats::Raw(std::vector<float>(40, 2.5f))), old);
    const RestingThread second([&] { of_new = repository.Load("file"); });
    EXPECT_TRUE(second.Rests());
    go_on_.set_value();
  }

  ASSERT_THAT(of_old, IsOk());
  ASSERT_THAT(of_new, IsOk());
  EXPECT_EQ(of_new->generation, 2);
  EXPECT_NE(of_new->checksum, of_old->checksum);
}

TEST_F(ModelRepositoryTest, UnloadDuringALoadComesAfterIt) {
  ModelRepository& repository = Repository();
  HoldFirstChange();
  {
    const RestingThread load([&] { EXPECT_THAT(repository.Load("a"), IsOk()); });
    changed_.get_future().wait();
    const RestingThread unload([&] { EXPECT_THAT(repository.Unload("a"), IsOk()); });
    EXPECT_TRUE(unload.Rests());
    go_on_.set_value();
  }

  EXPECT_THAT(changes_, ElementsAre(Pair("a", true), Pair("a", false)));
  EXPECT_THAT(repository.Index(), ElementsAre(Is("a", State::kUnavailable, "unloaded"), _));
}

TEST_F(ModelRepositoryTest, ManyThreadsLeaveOneModelServed) {
  ModelRepository& repository = Repository();
  {
    std::vector<std::unique_ptr<RestingThread>> threads;
    for (int i = 0; i < 6; ++i) {
      threads.push_back(std::make_unique<RestingThread>([&repository, i] {
        for (int round = 0; round < 200; ++round) {
          const std::string name = (i + round) % 2 == 0 ? "a" : "b";
          EXPECT_THAT(i % 3 == 0 ? repository.Unload(name) : repository.Load(name).status(), IsOk());
          EXPECT_EQ(repository.Index().size(), 2u);
        }
      }));
    }
  }
  ASSERT_THAT(repository.Load("a"), IsOk());
  ASSERT_THAT(repository.Unload("b"), IsOk());

  EXPECT_THAT(repository.Index(), ElementsAre(Is("a", State::kReady, ""), Is("b", State::kUnavailable, _)));
  EXPECT_EQ(budget_.taken(), kTableBytes);
}

TEST_F(ModelRepositoryTest, LoadsAfterTheStartAreCountedByResult) {
  ModelRepository& repository = Repository();
  ASSERT_THAT(repository.LoadAll(), IsOk());
  EXPECT_EQ(statistics_.reloads(), 0u);

  ASSERT_THAT(repository.Load("a"), IsOk());
  ASSERT_THAT(repository.Load("none"), Not(IsOk()));

  EXPECT_EQ(statistics_.reloads(), 1u);
  EXPECT_EQ(statistics_.failed_reloads(), 0u);  // of a name that is not configured nothing was tried
  EXPECT_GT(statistics_.Of("a").load_time.count(), 0);
}

TEST_F(ModelRepositoryTest, StatisticsOutliveTheirModel) {
  ModelRepository& repository = Repository();
  ASSERT_THAT(repository.LoadAll(), IsOk());
  statistics_.CountSuccess("a", 3, {});

  ASSERT_THAT(repository.Unload("a"), IsOk());
  EXPECT_EQ(statistics_.Of("a").rows, 3u);
  ASSERT_THAT(repository.Load("a"), IsOk());
  statistics_.CountSuccess("a", 4, {});

  EXPECT_EQ(statistics_.Of("a").rows, 7u);
}

TEST_F(ModelRepositoryTest, ModelThatIsGoneGivesItsMemoryBack) {
  ModelRepository& repository = Repository(/*is_explicit=*/true, 2 * kTableBytes);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_THAT(repository.Load("a"), IsOk());
    ASSERT_THAT(repository.Unload("a"), IsOk());
  }

  EXPECT_EQ(budget_.taken(), 0);
}

TEST_F(ModelRepositoryTest, OldAndNewCountWhileBothAreThere) {
  ModelRepository& repository = Repository(/*is_explicit=*/true, 2 * kTableBytes);
  ASSERT_THAT(repository.LoadAll(), IsOk());

  EXPECT_THAT(repository.Load("a"),
              AllOf(StatusIs(absl::StatusCode::kResourceExhausted,
                             "model \"a\": its table needs 160 bytes and those that are there take 320; tables of "
                             "this process may take 320"),
                    ReasonIs("OUT_OF_MEMORY")));
  EXPECT_EQ(Generation("a"), 1);
  ASSERT_THAT(repository.Unload("b"), IsOk());
  EXPECT_THAT(repository.Load("a"), IsOk());
  EXPECT_EQ(budget_.taken(), kTableBytes);
}

TEST_F(ModelRepositoryTest, MemoryCountsUntilTheLastReaderHasGone) {
  ModelRepository& repository = Repository(/*is_explicit=*/true, kTableBytes);
  ASSERT_THAT(repository.Load("a"), IsOk());
  auto reader = models_.Find("a", "").value();

  ASSERT_THAT(repository.Unload("a"), IsOk());
  EXPECT_THAT(repository.Load("a"), ReasonIs("OUT_OF_MEMORY"));
  EXPECT_EQ(reader->vocab_size(), 10);
  reader.reset();

  EXPECT_THAT(repository.Load("a"), IsOk());
}

}  // namespace
}  // namespace embd::app
