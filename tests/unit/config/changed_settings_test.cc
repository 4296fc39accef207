#include "server/config/changed_settings.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/config/keys.h"
#include "server/config/load.h"

namespace embd::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ChangedSettings, NamesThoseThatDifferAndNoOthers) {
  ServerConfig a;
  ServerConfig b = a;
  EXPECT_THAT(ChangedSettings(a, b), IsEmpty());
  b.listen = {"127.0.0.1:1"};
  b.limits.max_batch_size = 7;
  b.tls = Tls{};
  b.log.level = "debug";

  EXPECT_THAT(ChangedSettings(a, b),
              ElementsAre("server.listen", "server.tls", "server.limits.max_batch_size", "server.log.level"));
}

TEST(ChangedSettings, ModelsAreNoSettings) {
  const ServerConfig a;
  ServerConfig b = a;
  b.models = DemoModels();

  EXPECT_THAT(ChangedSettings(a, b), IsEmpty());
}

// A key that is read but not compared would change at a reload without a word.
TEST(ChangedSettings, EveryKeyOfTheServerIsCompared) {
  const std::vector<std::string> all = AllSettings();
  const std::set<std::string> compared(all.begin(), all.end());
  for (const SectionKeys& section : Sections()) {
    if (section.path != "server" && !absl::StartsWith(section.path, "server.")) continue;
    if (compared.contains(std::string(section.path))) continue;  // as a whole
    for (const absl::string_view key : section.keys) {
      const std::string path = absl::StrCat(section.path, ".", key);
      bool is_section = false;
      for (const SectionKeys& other : Sections()) is_section |= other.path == path;
      EXPECT_TRUE(is_section || compared.contains(path)) << path;
    }
  }
}

}  // namespace
}  // namespace embd::config
