// Models and settings are changed while everything else goes on.

#include <future>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/stress/actor.h"
#include "tests/stress/life.h"

namespace embd::stress {
namespace {

Action::Step LoadAgain(Life& life) {
  return [client = life.Tcp()](Actor& actor) {
    actor.Pause(5000);
    const auto loaded = client.LoadModel(actor.Among(Corpus::SteadyModels()));
    actor.Answered(loaded.status(), {"STOPPING"});
  };
}

Action::Step UnloadAndLoad(Life& life) {
  return [client = life.Tcp()](Actor& actor) {
    const std::string model = actor.Among(Corpus::FleetingModels());
    if (actor.Answered(client.UnloadModel(model), {"MODEL_NOT_FOUND"})) actor.Pause(5000);
    actor.Answered(client.LoadModel(model).status(), LoadRefusals());
    actor.Pause(20'000);
  };
}

// Every table that may be read then is one that the corpus knows.
Action::Step ReplaceFiles(Life& life) {
  return [&life, client = life.Unix()](Actor& actor) {
    const std::string model = actor.Among({"file", "mapped"});
    life.corpus().WriteTable(model, static_cast<int>(Below(actor.random(), Corpus::kVariants)));
    const auto loaded = client.LoadModel(model);
    if (actor.Answered(loaded.status(), {"STOPPING"})) {
      EXPECT_EQ(life.corpus().AnyPlain(model, actor.random()).expected.count(loaded->checksum), 1u) << model;
    }
    actor.Pause(10'000);
  };
}

Action::Step CutFilesShort(Life& life) {
  return [&life, client = life.Unix()](Actor& actor) {
    life.corpus().CutShort();
    actor.Pause(10'000);
    life.corpus().WriteTable("damaged", static_cast<int>(Below(actor.random(), Corpus::kVariants)));
    actor.Answered(client.LoadModel("damaged").status(), {"STOPPING"});
    actor.Pause(10'000);
  };
}

// By call and by hand, as SIGHUP does it.
Action::Step Reconfigure(Life& life) {
  return [&life, client = life.Tcp()](Actor& actor) {
    const auto variant = static_cast<int>(Below(actor.random(), Corpus::kVariants));
    life.Configure(variant, actor.Among({"off", "off", "error", "warn"}));
    if (Below(actor.random(), 4) == 0) {
      std::promise<void> done;
      life.server().ReloadConfigInBackground([&done] { done.set_value(); });
      done.get_future().wait();
    } else if (const auto report = client.ReloadConfig(); actor.Answered(report.status())) {
      for (const client::ReloadFailure& failure : report->failures) {
        if (failure.model != "damaged") actor.Answered(failure.status, {"STOPPING"});
      }
      EXPECT_TRUE(report->needs_restart.empty()) << report->needs_restart.front();
    }
    actor.Pause(20'000);
  };
}

}  // namespace

std::vector<Action> AdminActions() {
  return {{"LoadModel", 1, LoadAgain},
          {"UnloadModel and LoadModel", 2, UnloadAndLoad},
          {"other files and LoadModel", 1, ReplaceFiles},
          {"files cut short and LoadModel", 1, CutFilesShort},
          {"ReloadConfig", 1, Reconfigure}};
}

}  // namespace embd::stress
