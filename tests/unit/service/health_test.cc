#include "server/app/health.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"

namespace embd::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Keeps what it is told; "*" stands for every name.
class FakeHealthService final : public grpc::HealthCheckServiceInterface {
 public:
  void SetServingStatus(const std::string& name, bool serving) override { told.emplace_back(name, serving); }
  void SetServingStatus(bool serving) override { told.emplace_back("*", serving); }

  std::vector<std::pair<std::string, bool>> told;
};

TEST(Health, ChecksHearWhatWasSetBeforeTheyAreServed) {
  FakeHealthService service;
  Health health;
  health.Set("m", true);
  health.Set("n", true);
  health.Set("n", false);

  health.Serve(&service);

  EXPECT_THAT(service.told, ElementsAre(Pair("m", true), Pair("n", false)));
}

TEST(Health, WatchersHearOfChangesOnly) {
  FakeHealthService service;
  Health health;
  health.Serve(&service);

  health.Set("m", true);
  health.Set("m", true);
  health.Set("m", false);

  EXPECT_THAT(service.told, ElementsAre(Pair("m", true), Pair("m", false)));
}

// A load that ends while calls are drained must not call anybody back.
TEST(Health, NothingServesAfterStop) {
  FakeHealthService service;
  Health health;
  health.Serve(&service);

  health.Stop();
  health.Set("m", true);
  health.Stop();

  EXPECT_THAT(service.told, ElementsAre(Pair("*", false)));
}

TEST(Health, StopBeforeServeTellsNobody) {
  FakeHealthService service;
  Health health;
  health.Set("m", true);

  health.Stop();

  EXPECT_THAT(service.told, IsEmpty());
}

}  // namespace
}  // namespace embd::app
