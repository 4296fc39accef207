// A server that does everything at once, through several lives.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

seconds Duration() {
  const char* const text = std::getenv("STRESS_SECONDS");
  int value = 5;
  if (text != nullptr && !absl::SimpleAtoi(text, &value)) ADD_FAILURE() << "STRESS_SECONDS is no number: " << text;
  return seconds(value);
}

std::vector<Action> AllActions() {
  std::vector<Action> all;
  for (const auto& kind : {AdminActions(), DiagnosticActions(), EmbeddingActions(), GuardedActions(),
                           ImpatientActions(), InferenceActions(), ObservationActions(), RegionActions()}) {
    all.insert(all.end(), kind.begin(), kind.end());
  }
  return all;
}

// From start to shutdown, with all threads of all actions.
void LiveOnce(World& world, const std::vector<Action>& actions, Clock::duration length, Random& random) {
  Life life(world);
  std::vector<Action::Step> steps;
  for (const Action& action : actions) steps.push_back(action.begin(life));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < actions.size(); ++i) {
    for (int number = 0; number < actions[i].threads; ++number) {
      threads.emplace_back([&life, &action = actions[i], &step = steps[i], number, seed = random()] {
        Actor actor(life, action, number, seed);
        while (!life.over()) {
          step(actor);
          if (life.ending()) actor.Pause(5000);  // most calls fail at once then
        }
      });
    }
  }
  for (const auto end = Clock::now() + length; Clock::now() < end && !::testing::Test::HasFailure();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  life.End(absl::Milliseconds(Below(random, 3) * 100));
  for (std::thread& thread : threads) thread.join();
}

TEST(Stress, EveryCallIsAnsweredRightWhateverElseGoesOn) {
  const seconds duration = Duration();
  const std::vector<Action> actions = AllActions();
  const auto missing = [&actions](const World& world) {
    std::string names;
    for (const Action& action : actions) {
      if (!world.tally.WasAnswered(action.name)) names += (names.empty() ? "" : ", ") + action.name;
    }
    return names;
  };
  World world;
  Random random(20);
  const auto begin = Clock::now();
  // A slow machine gets the time that it takes until every action has been answered.
  const auto latest = begin + duration + seconds(180);
  int lives = 0;
  do {
    // Short ones and long ones.
    const auto length = std::min<Clock::duration>(duration / 3, std::chrono::milliseconds(500 + Below(random, 15'000)));
    LiveOnce(world, actions, length, random);
    ++lives;
  } while (!HasFailure() && (Clock::now() < begin + duration || (missing(world) != "" && Clock::now() < latest)));

  EXPECT_EQ(missing(world), "") << "actions that were never answered";
  const auto took = std::chrono::duration_cast<seconds>(Clock::now() - begin).count();
  std::printf("%d lives in %d s\n%s", lives, static_cast<int>(took), world.tally.Text().c_str());
}

}  // namespace
}  // namespace embd::stress
