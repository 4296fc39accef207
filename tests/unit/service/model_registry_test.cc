#include "server/core/engine/model_registry.h"

#include "gmock/gmock.h"
#include "server/app/model_builder.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::shared_ptr<const Model> Make(const std::string& name) {
  app::TableBudget budget(1 << 20);
  const config::ModelConfig config = {.name = name,
                                      .token = config::SeededTokens{.vocab_size = 10, .embedding_dim = 4}};
  return app::BuildModel(config, &budget).value().model;
}

TEST(ModelRegistry, AbsentModelIsRefusedAsToldUntilItIsThere) {
  ModelRegistry models;
  models.SetAbsent("m", absl::UnavailableError("soon"));
  EXPECT_THAT(models.Find("m", ""), StatusIs(absl::StatusCode::kUnavailable, "soon"));
  EXPECT_THAT(models.Find("m", "99"), StatusIs(absl::StatusCode::kUnavailable, "soon"));
  EXPECT_THAT(models.All(), IsEmpty());

  models.Put(Make("m"));

  EXPECT_THAT(models.Find("m", ""), IsOk());
  EXPECT_THAT(models.All(), SizeIs(1));
}

TEST(ModelRegistry, SetAbsentTakesTheModelOut) {
  ModelRegistry models;
  models.Put(Make("m"));
  const std::weak_ptr<const Model> model = models.Find("m", "").value();

  models.SetAbsent("m", absl::UnavailableError("gone"));

  EXPECT_TRUE(model.expired());
  EXPECT_THAT(models.Find("m", ""), StatusIs(absl::StatusCode::kUnavailable, "gone"));
}

TEST(ModelRegistry, RemovedNameIsKnownNoMore) {
  ModelRegistry models;
  models.Put(Make("m"));
  models.Put(Make("n"));
  models.SetAbsent("m", absl::UnavailableError("gone"));

  models.Remove("m");

  EXPECT_THAT(models.Find("m", ""), StatusIs(absl::StatusCode::kNotFound, "there is no model \"m\"; there is \"n\""));
}

}  // namespace
}  // namespace embd::core
