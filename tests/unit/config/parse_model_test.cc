#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/config/load.h"
#include "tests/support/status_matchers.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

auto Parse(absl::string_view text) { return ParseYaml(text, "conf/embd.yaml"); }

/// The token table of a file with one model that is `model`.
absl::StatusOr<ModelConfig> ParseModel(absl::string_view model) {
  auto config = Parse(absl::StrCat("models: [", model, "]"));
  if (!config.ok()) return config.status();
  return config->models.at(0);
}

absl::StatusOr<SeededTokens> ParseSeeded(absl::string_view seeded) {
  auto model = ParseModel(absl::StrCat("{ name: m, token: { seeded: { ", seeded, " } } }"));
  if (!model.ok()) return model.status();
  return std::get<SeededTokens>(model->token);
}

TEST(Models, TheDesignsExampleIsReadAsWritten) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, Parse(R"(
server: { listen: [127.0.0.1:8001], limits: { max_request_bytes: 64MiB, max_response_bytes: 1GiB, max_batch_size: 4096,
            max_sequence_length: 1048576, max_bytes_in_flight: 4GiB } }   # in flight: at most a quarter of the memory allowed
models:
  - { name: gpt2, path: /models/gpt2 }
  - name: lesson
    token:    { seeded: { vocab_size: 320, embedding_dim: 64, std: 0.02, seed: 11 } }
    position: { sinusoidal: { max_context_length: 128, base: 10000 } }   # or { learned: { seeded: { max_context_length: 128 } } }
  - name: glove
    token: { file: /data/glove.npy, vocabulary: /data/glove.vocab }
)"));

  ASSERT_THAT(config.models, SizeIs(3));
  EXPECT_EQ(config.models[0].path, "/models/gpt2");
  EXPECT_EQ(std::get<SeededTokens>(config.models[1].token).rows.seed, 11);
  EXPECT_EQ(std::get<SinusoidalPositions>(*config.models[1].position).max_context_length, 128);
  EXPECT_EQ(std::get<TableFile>(config.models[2].token).vocabulary, "/data/glove.vocab");
}

TEST(Models, ReplaceThoseOfTheBase) {
  ServerConfig base;
  base.models = DemoModels();

  ASSERT_OK_AND_ASSIGN(const ServerConfig config, ParseYaml("models: []", "embd.yaml", base));

  EXPECT_THAT(config.models, IsEmpty());
}

TEST(Models, MustBeAListOfMaps) {
  EXPECT_THAT(Parse("models: {}"), StatusIs(kInvalid, "conf/embd.yaml:1: models: must be a list of models, got a map"));
  EXPECT_THAT(Parse("models:\n- a"), StatusIs(kInvalid, "conf/embd.yaml:2: models[0]: must be a map, got \"a\""));
}

TEST(Models, NameUsedTwiceNamesBothLines) {
  EXPECT_THAT(
      Parse("models:\n- name: m\n  path: a\n- path: b\n  name: m\n"),
      StatusIs(kInvalid, "conf/embd.yaml:5: models[1].name: must not be used twice, got \"m\", first on line 2"));
}

TEST(Models, ShareATokenTableByAnAnchor) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config,
                       Parse("models:\n- {name: a, token: &t {file: x.npy}}\n- {name: b, token: *t}\n"));

  EXPECT_EQ(config.models.at(0).token, config.models.at(1).token);
}

TEST(Model, NeedsAName) {
  EXPECT_THAT(ParseModel("{ path: a }"), StatusIs(kInvalid, "conf/embd.yaml:1: models[0]: name is missing"));
}

TEST(Model, BadNameIsRefused) {
  EXPECT_THAT(ParseModel("{ name: a/b, path: a }"), StatusIs(kInvalid, HasSubstr("models[0].name: must be 1 to 128")));
  EXPECT_THAT(ParseModel("{ name: grpc.x, path: a }"), StatusIs(kInvalid, HasSubstr("must not begin with grpc.")));
}

TEST(Model, VersionIsAStringAsWritten) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseModel("{ name: m, path: a, version: 1.0 }"));
  EXPECT_EQ(model.version, "1.0");
}

TEST(Model, VersionIsOneByDefault) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseModel("{ name: m, path: a }"));
  EXPECT_EQ(model.version, "1");
}

TEST(Model, BadVersionIsRefused) {
  EXPECT_THAT(ParseModel("{ name: m, path: a, version: 1/2 }"),
              StatusIs(kInvalid, HasSubstr("models[0].version: must be")));
}

TEST(Model, PathIsRelativeToTheFolderOfTheFile) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseModel("{ name: m, path: a.npy }"));
  EXPECT_EQ(model.path, "conf/a.npy");
}

TEST(Model, NeedsATokenTableAndOnlyOne) {
  EXPECT_THAT(ParseModel("{ name: m }"), StatusIs(kInvalid, HasSubstr("models[0]: token or path is missing")));
  EXPECT_THAT(ParseModel("{ name: m, path: a, token: { file: b } }"),
              StatusIs(kInvalid, HasSubstr("models[0].path: does not go with token.file")));
  EXPECT_THAT(ParseModel("{ name: m, token: {} }"),
              StatusIs(kInvalid, HasSubstr("models[0].token: file or seeded is missing")));
  EXPECT_THAT(ParseModel("{ name: m, token: { vocabulary: v } }"), StatusIs(kInvalid, HasSubstr("is missing")));
}

TEST(Model, KeysOfFilesDoNotGoWithSeededRows) {
  for (const char* key : {"file", "tensor", "vocabulary"}) {
    EXPECT_THAT(
        ParseModel(absl::StrCat("{ name: m, token: { ", key, ": a, seeded: { vocab_size: 1, embedding_dim: 1 } } }")),
        StatusIs(kInvalid, HasSubstr(absl::StrCat("models[0].token.", key, ": does not go with seeded"))))
        << key;
  }
}

TEST(Model, RelativePathsAreRelativeToTheFilesFolder) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model,
                       ParseModel("{ name: m, token: { file: a.npy, tensor: t, vocabulary: ../v } }"));

  EXPECT_EQ(std::get<TableFile>(model.token),
            (TableFile{.path = "conf/a.npy", .tensor = "t", .vocabulary = "conf/../v"}));
}

TEST(Model, PathsOfAFileInTheWorkingDirectoryStayAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(const ServerConfig config, ParseYaml("models: [{name: m, path: a.npy}]", "embd.yaml"));

  EXPECT_EQ(config.models.at(0).path, "a.npy");
}

TEST(SeededTokensSetting, HasDefaultsForTheDistribution) {
  ASSERT_OK_AND_ASSIGN(const SeededTokens tokens, ParseSeeded("vocab_size: 7, embedding_dim: 5"));

  EXPECT_EQ(tokens, (SeededTokens{.vocab_size = 7, .embedding_dim = 5, .rows = {.mean = 0.0, .std = 0.02, .seed = 0}}));
}

TEST(SeededTokensSetting, TakesAllItsKeys) {
  ASSERT_OK_AND_ASSIGN(const SeededTokens tokens,
                       ParseSeeded("vocab_size: 7, embedding_dim: 5, mean: -1.5, std: 0, seed: 18446744073709551615"));

  EXPECT_EQ(tokens.rows, (SeededRows{.mean = -1.5, .std = 0.0, .seed = 18446744073709551615u}));
}

TEST(SeededTokensSetting, NeedsItsSizes) {
  EXPECT_THAT(ParseSeeded("embedding_dim: 5"), StatusIs(kInvalid, HasSubstr("token.seeded: vocab_size is missing")));
  EXPECT_THAT(ParseSeeded("vocab_size: 5"), StatusIs(kInvalid, HasSubstr("token.seeded: embedding_dim is missing")));
}

TEST(SeededTokensSetting, SizesAreIntegersFromOne) {
  for (const char* size : {"0", "-1", "1.5", "1e3", "x", "9223372036854775808"}) {
    EXPECT_THAT(
        ParseSeeded(absl::StrCat("embedding_dim: 5, vocab_size: ", size)),
        StatusIs(kInvalid, absl::StrCat("conf/embd.yaml:1: models[0].token.seeded.vocab_size: must be an integer "
                                        ">= 1, got \"",
                                        size, "\"")));
  }
}

TEST(SeededTokensSetting, TableOfMoreThan63BitsOfBytesIsRefused) {
  EXPECT_THAT(ParseSeeded("vocab_size: 2305843009213693951, embedding_dim: 1"), testing::IsOk());
  EXPECT_THAT(ParseSeeded("vocab_size: 2305843009213693952, embedding_dim: 1"),
              StatusIs(kInvalid, HasSubstr("token.seeded.vocab_size: must be at most 2305843009213693951 with "
                                           "embedding_dim 1, got 2305843009213693952")));
  EXPECT_THAT(ParseSeeded("vocab_size: 9223372036854775807, embedding_dim: 9223372036854775807"),
              StatusIs(kInvalid, HasSubstr("must be at most 0")));
}

TEST(SeededTokensSetting, StdMessageNamesLineAndPath) {
  EXPECT_THAT(
      ParseYaml(
          "models:\n- name: m\n  token:\n    seeded:\n      vocab_size: 1\n      embedding_dim: 1\n      std: x\n",
          "embd.yaml"),
      StatusIs(kInvalid, "embd.yaml:7: models[0].token.seeded.std: must be a finite number >= 0, got \"x\""));
}

TEST(SeededTokensSetting, StdIsFiniteAndNotNegative) {
  for (const char* std : {"-0.1", ".inf", "inf", "nan", "1e999", "'0.1'"}) {
    EXPECT_THAT(ParseSeeded(absl::StrCat("vocab_size: 1, embedding_dim: 1, std: ", std)),
                StatusIs(kInvalid, HasSubstr("std: must be a finite number >= 0, got ")))
        << std;
  }
}

TEST(SeededTokensSetting, MeanIsFinite) {
  for (const char* mean : {"-.inf", "nan", "x"}) {
    EXPECT_THAT(ParseSeeded(absl::StrCat("vocab_size: 1, embedding_dim: 1, mean: ", mean)),
                StatusIs(kInvalid, HasSubstr("mean: must be a finite number, got ")))
        << mean;
  }
}

TEST(SeededTokensSetting, DistributionThatFloat32CannotHoldIsRefused) {
  EXPECT_THAT(ParseSeeded("vocab_size: 1, embedding_dim: 1, std: 1e31"),
              StatusIs(kInvalid, HasSubstr("std: must be at most 1e+30, got \"1e31\"")));
  EXPECT_THAT(ParseSeeded("vocab_size: 1, embedding_dim: 1, mean: -1e31"),
              StatusIs(kInvalid, HasSubstr("mean: must be of a magnitude at most 1e+30")));
}

TEST(SeededTokensSetting, SeedIsAnUnsignedInteger) {
  for (const char* seed : {"-1", "1.5", "18446744073709551616"}) {
    EXPECT_THAT(ParseSeeded(absl::StrCat("vocab_size: 1, embedding_dim: 1, seed: ", seed)),
                StatusIs(kInvalid, HasSubstr("seed: must be an integer from 0 to 18446744073709551615")))
        << seed;
  }
}

}  // namespace
}  // namespace embd::config
