// Results to shared memory, which comes and goes while they are written.

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "embd/client/shared_region.h"
#include "gtest/gtest.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

constexpr std::int64_t kRegionBytes = 1 << 20;
constexpr std::int64_t kWideBytes = 512 << 10;  // of a plain batch of "wide"
constexpr char kFleetingRegion[] = "fleeting";

// Regions of a thread's own. Other threads' may take up all the room.
Action::Step OwnRegion(Life& life) {
  return [&life, client = life.Unix()](Actor& actor) {
    const auto region = client::SharedRegion::Create(client, kRegionBytes);
    if (!actor.Answered(region.status(), {"TOO_MANY_REGIONS"})) return;
    for (int i = 0; i < 10; ++i) {
      const Case& batch = life.corpus().Any(actor.Among(Corpus::SteadyModels()), actor.random());
      client::EmbedRequest request = batch.request;
      request.output_target = region->Target(64 * Below(actor.random(), 1000));
      const auto info = client.EmbedToRegion(request);
      if (!actor.Answered(batch, info.status())) continue;
      ASSERT_TRUE(info->written.has_value());
      actor.ExpectBytes(batch, info->checksum,
                        BytesOf(region->bytes().subspan(static_cast<std::size_t>(info->written->offset),
                                                        static_cast<std::size_t>(info->written->byte_size))));
    }
  };
}

// One region for all, which is registered and unregistered all the time.
Action::Step FleetingRegion(Life& life) {
  const std::string path = life.world().region_prefix + kFleetingRegion;
  std::ofstream(path).close();
  std::filesystem::resize_file(path, kRegionBytes);
  return [client = life.Unix(), path](Actor& actor) {
    const client::Region region = {.name = kFleetingRegion, .path = path, .byte_size = kRegionBytes};
    actor.Answered(client.RegisterRegion(region), {"REGION_EXISTS", "TOO_MANY_REGIONS"});
    actor.Answered(client.ListRegions().status());
    actor.Pause(3000);
    actor.Answered(client.UnregisterRegion(kFleetingRegion), {"REGION_NOT_FOUND"});
  };
}

// Each thread has a place of its own there: what two write to one place is the callers' race.
Action::Step ToFleetingRegion(Life& life) {
  return [&life, client = life.Unix()](Actor& actor) {
    const Case& batch = life.corpus().AnyPlain("wide", actor.random());
    client::EmbedRequest request = batch.request;
    request.output_target = client::SharedMemoryTarget{
        .region = kFleetingRegion, .offset = kWideBytes * actor.number(), .byte_size = kWideBytes};
    const auto info = client.EmbedToRegion(request);
    if (!actor.Answered(batch, info.status(), {"REGION_NOT_FOUND"})) return;
    EXPECT_EQ(info->written->byte_size, kWideBytes);
  };
}

}  // namespace

std::vector<Action> RegionActions() {
  return {{"regions of a thread's own", 2, OwnRegion},
          {"a region that comes and goes", 2, FleetingRegion},
          {"results to a region that comes and goes", 2, ToFleetingRegion}};
}

}  // namespace embd::stress
