#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/one_model.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kTokensFromDisk[] = "token: { file: t.npy }";
constexpr char kTokensOfSeed11[] = "token: { seeded: { vocab_size: 8, embedding_dim: 4, seed: 11 } }";
constexpr char kFolder[] = "path: bert";

absl::StatusOr<std::variant<Absent, TokenTypes>> ParseTypes(absl::string_view types,
                                                            absl::string_view token = kTokensFromDisk) {
  auto model = ParseOneModel(absl::StrCat("token_type: ", types, ", ", token));
  if (!model.ok()) return model.status();
  return model->token_types.value();
}

TEST(TokenTypeSetting, IsUnsetWhereItIsNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel(kTokensFromDisk));
  EXPECT_EQ(model.token_types, std::nullopt);
}

TEST(TokenTypeSetting, NoneSaysThatThereAreNone) {
  for (const char* token : {kTokensFromDisk, kFolder}) {
    ASSERT_OK_AND_ASSIGN(const auto types, ParseTypes("none", token));
    EXPECT_TRUE(std::holds_alternative<Absent>(types)) << token;
  }
}

TEST(TokenTypeSetting, MayComeFromAFile) {
  ASSERT_OK_AND_ASSIGN(const auto types, ParseTypes("{ file: a.safetensors, tensor: x }"));

  EXPECT_EQ(std::get<TokenTypes>(types), (TokenTypes{.source = TableFile{.path = "c/a.safetensors", .tensor = "x"}}));
}

TEST(TokenTypeSetting, MayBeSeededWithTheSeedOfTheTokenTable) {
  ASSERT_OK_AND_ASSIGN(const auto types, ParseTypes("{ seeded: { type_vocab_size: 2 } }", kTokensOfSeed11));

  EXPECT_EQ(std::get<TokenTypes>(types),
            (TokenTypes{.source = SeededTokenTypes{.type_vocab_size = 2, .rows = {.seed = 11}}}));
}

TEST(TokenTypeSetting, SeedIsZeroBesideATokenTableOnDisk) {
  ASSERT_OK_AND_ASSIGN(const auto types, ParseTypes("{ seeded: { type_vocab_size: 2 } }"));

  EXPECT_EQ(std::get<TokenTypes>(types), (TokenTypes{.source = SeededTokenTypes{.type_vocab_size = 2}}));
}

TEST(TokenTypeSetting, OwnSeedAndDistributionWin) {
  ASSERT_OK_AND_ASSIGN(const auto types,
                       ParseTypes("{ seeded: { type_vocab_size: 2, mean: 1, std: 0.5, seed: 3 } }", kTokensOfSeed11));

  const SeededRows rows = {.mean = 1.0, .std = 0.5, .seed = 3};
  EXPECT_EQ(std::get<TokenTypes>(types), (TokenTypes{.source = SeededTokenTypes{.type_vocab_size = 2, .rows = rows}}));
}

TEST(TokenTypeSetting, SharedRowsAreAddedOnlyWhenSentByDefault) {
  ASSERT_OK_AND_ASSIGN(const auto types, ParseTypes("{ shared: true }"));

  EXPECT_EQ(std::get<TokenTypes>(types), (TokenTypes{.source = SharedTokenTypes{}, .only_when_sent = true}));
}

TEST(TokenTypeSetting, OnlyWhenSentIsAsGiven) {
  ASSERT_OK_AND_ASSIGN(const auto file, ParseTypes("{ file: a.npy, only_when_sent: true }"));
  ASSERT_OK_AND_ASSIGN(const auto shared, ParseTypes("{ shared: true, only_when_sent: false }"));

  EXPECT_TRUE(std::get<TokenTypes>(file).only_when_sent);
  EXPECT_FALSE(std::get<TokenTypes>(shared).only_when_sent);
}

TEST(TokenTypeSetting, SourceMayBeLeftToThePath) {
  ASSERT_OK_AND_ASSIGN(const auto tensor, ParseTypes("{ tensor: x }", kFolder));
  ASSERT_OK_AND_ASSIGN(const auto sent, ParseTypes("{ only_when_sent: true }", kFolder));

  EXPECT_EQ(std::get<TokenTypes>(tensor), (TokenTypes{.source = TableFile{.tensor = "x"}}));
  EXPECT_EQ(std::get<TokenTypes>(sent), (TokenTypes{.source = TableFile{}, .only_when_sent = true}));
}

TEST(TokenTypeSetting, NeedsASourceWithoutAPath) {
  constexpr char kMessage[] =
      "c/e.yaml:1: models[0].token_type: must hold one of file, seeded, shared, got none of them";
  for (const char* types : {"{}", "{ tensor: x }", "{ only_when_sent: true }"}) {
    EXPECT_THAT(ParseTypes(types), StatusIs(kInvalid, kMessage)) << types;
  }
}

TEST(TokenTypeSetting, HasOneSourceOnly) {
  for (const char* token : {kTokensFromDisk, kFolder}) {
    EXPECT_THAT(
        ParseTypes("{ shared: true, file: a.npy }", token),
        StatusIs(kInvalid, HasSubstr("token_type: must hold one of file, seeded, shared, got file and shared")));
  }
}

TEST(TokenTypeSetting, TensorGoesWithFilesOnly) {
  EXPECT_THAT(ParseTypes("{ seeded: { type_vocab_size: 2 }, tensor: x }"),
              StatusIs(kInvalid, HasSubstr("models[0].token_type.tensor: does not go with seeded")));
  EXPECT_THAT(ParseTypes("{ shared: true, tensor: x }"),
              StatusIs(kInvalid, HasSubstr("models[0].token_type.tensor: does not go with shared")));
}

TEST(TokenTypeSetting, SharedIsTrueWhereItIsGiven) {
  EXPECT_THAT(ParseTypes("{ shared: false }"),
              StatusIs(kInvalid, HasSubstr("token_type.shared: must be true where it is given, got \"false\"")));
  EXPECT_THAT(ParseTypes("{ shared: yes }"),
              StatusIs(kInvalid, HasSubstr("token_type.shared: must be true or false, got \"yes\"")));
}

TEST(TokenTypeSetting, OnlyWhenSentIsTrueOrFalse) {
  for (const char* value : {"1", "True", "'true'", "[true]"}) {
    EXPECT_THAT(ParseTypes(absl::StrCat("{ file: a.npy, only_when_sent: ", value, " }")),
                StatusIs(kInvalid, HasSubstr("token_type.only_when_sent: must be true or false, got ")))
        << value;
  }
}

TEST(TokenTypeSetting, SeededRowsNeedACountThatFits) {
  EXPECT_THAT(ParseTypes("{ seeded: {} }"),
              StatusIs(kInvalid, HasSubstr("token_type.seeded: type_vocab_size is missing")));
  EXPECT_THAT(ParseTypes("{ seeded: { type_vocab_size: 0 } }"),
              StatusIs(kInvalid, HasSubstr("type_vocab_size: must be an integer >= 1, got \"0\"")));
  EXPECT_THAT(
      ParseTypes("{ seeded: { type_vocab_size: 2305843009213693951 } }", kTokensOfSeed11),
      StatusIs(kInvalid, HasSubstr("type_vocab_size: must be at most 576460752303423487 with embedding_dim 4")));
}

TEST(TokenTypeSetting, OtherThingsAreRefused) {
  EXPECT_THAT(ParseTypes("shared"), StatusIs(kInvalid,
                                             "c/e.yaml:1: models[0].token_type: must be none, or a map of "
                                             "one of file, seeded, shared, got \"shared\""));
  EXPECT_THAT(ParseTypes("{ file: a.npy, vocabulary: v }"),
              StatusIs(kInvalid, HasSubstr("models[0].token_type: unknown key \"vocabulary\"")));
}

}  // namespace
}  // namespace embd::config
