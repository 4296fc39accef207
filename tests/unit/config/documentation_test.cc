#include <set>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "server/config/keys.h"
#include "server/config/load.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/example_files.h"

namespace embd::config {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using ::testing::StartsWith;

std::set<std::string> KnownKeys() {
  std::set<std::string> keys;
  for (const SectionKeys& section : Sections()) {
    for (const absl::string_view key : section.keys) {
      keys.insert(section.path.empty() ? std::string(key) : absl::StrCat(section.path, ".", key));
    }
  }
  return keys;
}

/// The first column of the table of keys: rows that begin "| `key.path` |".
std::set<std::string> DocumentedKeys(const std::string& page) {
  std::set<std::string> keys;
  for (const absl::string_view line : absl::StrSplit(page, '\n')) {
    const std::vector<std::string> parts = absl::StrSplit(line, '`');
    if (parts.size() < 3 || parts[0] != "| " || absl::StartsWith(parts[1], "--")) continue;
    keys.insert(parts[1]);
  }
  return keys;
}

/// The texts between "```yaml" and "```".
std::vector<std::string> YamlBlocks(const std::string& page) {
  std::vector<std::string> blocks;
  const std::vector<std::string> parts = absl::StrSplit(page, "```yaml\n");
  for (std::size_t i = 1; i < parts.size(); ++i) blocks.push_back(parts[i].substr(0, parts[i].find("```")));
  return blocks;
}

absl::StatusOr<ServerConfig> ParseExample(const std::string& name) {
  const std::string path = absl::StrCat("docs/examples/", name);
  return ParseYaml(ReadSourceFile(path), path);
}

TEST(ConfigurationPage, DescribesTheKeysThatTheReaderKnowsAndNoOthers) {
  EXPECT_EQ(DocumentedKeys(ReadSourceFile("docs/configuration.md")), KnownKeys());
}

TEST(ConfigurationPage, NamesEveryFlagWithItsVariable) {
  const std::string page = ReadSourceFile("docs/configuration.md");
  for (const Setting& setting : kSettings) {
    EXPECT_TRUE(absl::StrContains(page, absl::StrCat("| `", setting.flag))) << setting.flag;
    EXPECT_TRUE(absl::StrContains(page, absl::StrCat("| `", setting.variable, "` |"))) << setting.variable;
  }
}

TEST(ConfigurationPage, ExamplesAreRead) {
  const auto blocks = YamlBlocks(ReadSourceFile("docs/configuration.md"));

  ASSERT_THAT(blocks, SizeIs(6));
  for (const std::string& block : blocks) EXPECT_THAT(ParseYaml(block, "embd.yaml"), testing::IsOk()) << block;
}

TEST(ConfigurationPage, MessageOfTheMisspeltKeyIsTheRealOne) {
  const auto result = ParseYaml("server:\n  lisen: a:1\n", "embd.yaml");

  EXPECT_TRUE(absl::StrContains(ReadSourceFile("docs/configuration.md"), result.status().message())) << result.status();
}

TEST(ExampleFiles, BeginWithACommentThatSaysWhatTheyAre) {
  for (const char* path : kExampleFiles) EXPECT_THAT(ReadSourceFile(path), StartsWith("# ")) << path;
}

TEST(ExampleFiles, LessonHasBothOfTheLessonsModels) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, ParseExample("lesson.yaml"));

  const SeededRows rows = {.mean = 0.0, .std = 0.02, .seed = 11};
  const SeededTokens tokens = {.vocab_size = 320, .embedding_dim = 64, .rows = rows};
  const ModelConfig learned = {.name = "lesson-learned",
                               .token = tokens,
                               .position = LearnedPositions{SeededPositions{.max_context_length = 128, .rows = rows}}};
  const ModelConfig sinusoidal = {
      .name = "lesson", .token = tokens, .position = SinusoidalPositions{.max_context_length = 128, .base = 10000.0}};
  EXPECT_THAT(config.models, ElementsAre(learned, sinusoidal));
}

TEST(ExampleFiles, ArticleHasTheArticlesSizes) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, ParseExample("article.yaml"));

  const ModelConfig expected = {
      .name = "article",
      .token = SeededTokens{.vocab_size = 10000, .embedding_dim = 256, .rows = {.mean = 0.0, .std = 1.0, .seed = 0}},
      .position = SinusoidalPositions{.max_context_length = 5000}};
  EXPECT_THAT(config.models, ElementsAre(expected));
}

TEST(ExampleFiles, GloveReadsWordsFromDisk) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, ParseExample("glove.yaml"));

  const ModelConfig expected = {
      .name = "glove",
      .token = TableFile{.path = "/data/glove.npy", .tensor = "", .vocabulary = "/data/glove.vocab"},
      .position = NoPositions{}};
  EXPECT_THAT(config.models, ElementsAre(expected));
}

TEST(ExampleFiles, SpelledOutHasAllPartsThatNeedNoFile) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, ParseExample("spelled-out.yaml"));

  const SeededRows rows = {.mean = 0.0, .std = 0.02, .seed = 7};
  const ModelConfig expected = {
      .name = "spelled-out",
      .token = SeededTokens{.vocab_size = 320, .embedding_dim = 64, .rows = rows},
      .token_scale = TokenScale{.sqrt_dim = true},
      .out_of_range = OutOfRange{.policy = OutOfRange::Policy::kUnk, .unk_id = 3},
      .token_types = TokenTypes{.source = SeededTokenTypes{.type_vocab_size = 2, .rows = rows}},
      .position = LearnedPositions{SeededPositions{.max_context_length = 64, .rows = rows}},
      .numbering = Numbering::kPadding,
      .padding_idx = 0,
      .sum_order = SumOrder::kPositionFirst,
      .trained_context_length = 63};
  EXPECT_THAT(config.models, ElementsAre(expected));
}

}  // namespace
}  // namespace embd::config
