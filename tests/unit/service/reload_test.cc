#include "server/app/reload.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::app {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ReloadTest : public ::testing::Test {
 protected:
  ReloadTest() {
    now_.models = {{.name = "a", .token = config::SeededTokens{.vocab_size = 10, .embedding_dim = 4}}};
    repository_ = std::make_unique<ModelRepository>(now_, TableBudget(1 << 20), &models_, &statistics_,
                                                    [](const std::string&, bool) {});
    started_ = now_;
  }

  absl::StatusOr<service::ReloadReport> Run(std::vector<LiveSetting> live = {}) {
    Reload reload(
        started_, [this] { return now_; }, std::move(live), repository_.get());
    return reload.Run();
  }

  config::ServerConfig started_, now_;
  core::ModelRegistry models_;
  service::Statistics statistics_;
  std::unique_ptr<ModelRepository> repository_;
};

TEST_F(ReloadTest, SettingsThatAreOnlyReadAtTheStartAreNamed) {
  now_.listen = {"127.0.0.1:9"};
  now_.limits.max_batch_size = 3;

  ASSERT_OK_AND_ASSIGN(const auto report, Run());

  EXPECT_THAT(report.needs_restart, ElementsAre("server.listen", "server.limits.max_batch_size"));
  EXPECT_THAT(report.applied, IsEmpty());
  EXPECT_THAT(report.loaded, ElementsAre(::testing::_));
}

TEST_F(ReloadTest, LiveSettingIsAppliedAndNeedsNoRestart) {
  now_.tokens = "/tokens";
  std::string applied;
  const LiveSetting tokens = {.key = "server.tokens", .apply = [&](const config::ServerConfig& config) {
                                applied = config.tokens;
                                return absl::StatusOr<bool>(true);
                              }};
  const LiveSetting same = {.key = "server.log.level",
                            .apply = [](const config::ServerConfig&) { return absl::StatusOr<bool>(false); }};

  ASSERT_OK_AND_ASSIGN(const auto report, Run({tokens, same}));

  EXPECT_EQ(applied, "/tokens");
  EXPECT_THAT(report.applied, ElementsAre("server.tokens"));
  EXPECT_THAT(report.needs_restart, IsEmpty());
}

TEST_F(ReloadTest, LiveSettingThatCannotBeAppliedIsAFailureOfItsOwn) {
  const LiveSetting tokens = {.key = "server.tokens", .apply = [](const config::ServerConfig&) {
                                return absl::StatusOr<bool>(absl::NotFoundError("gone"));
                              }};

  ASSERT_OK_AND_ASSIGN(const auto report, Run({tokens}));

  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].setting, "server.tokens");
  EXPECT_THAT(report.failures[0].status, StatusIs(absl::StatusCode::kNotFound, "gone"));
  EXPECT_THAT(report.loaded, ElementsAre(::testing::_));
}

TEST_F(ReloadTest, WrongConfigurationChangesNothing) {
  ASSERT_THAT(repository_->LoadAll(), IsOk());
  int applied = 0;
  const LiveSetting counting = {.key = "server.tokens", .apply = [&](const config::ServerConfig&) {
                                  ++applied;
                                  return absl::StatusOr<bool>(true);
                                }};
  Reload reload(
      started_, [] { return absl::StatusOr<config::ServerConfig>(absl::InvalidArgumentError("embd.yaml:3: no")); },
      {counting}, repository_.get());

  EXPECT_THAT(reload.Run(), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("embd.yaml:3")));

  EXPECT_EQ(applied, 0);
  EXPECT_THAT(models_.Find("a", ""), IsOk());
}

TEST_F(ReloadTest, IsRefusedWhereTheConfigurationCannotBeReadAgain) {
  Reload reload(started_, nullptr, {}, repository_.get());

  EXPECT_THAT(reload.Run(), ReasonIs("RELOAD_OFF"));
}

}  // namespace
}  // namespace embd::app
