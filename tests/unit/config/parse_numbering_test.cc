#include <utility>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/one_model.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr char kTokensFromDisk[] = "token: { file: t.npy }";
constexpr char kFolder[] = "path: bert";

/// A model with a table of positions and these keys beside it.
absl::StatusOr<ModelConfig> ParseNumbering(absl::string_view keys, absl::string_view rest = kTokensFromDisk) {
  return ParseOneModel(absl::StrCat("position: { learned: { file: p.npy }, ", keys, " }, ", rest));
}

absl::StatusOr<ModelConfig> ParseBesideAPath(absl::string_view keys) {
  return ParseOneModel(absl::StrCat(kFolder, ", position: { ", keys, " }"));
}

TEST(NumberingSetting, IsUnsetWhereItIsNotGiven) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseOneModel("token: { file: t.npy }, position: { rotary: {} }"));

  EXPECT_EQ(model.numbering, std::nullopt);
  EXPECT_EQ(model.row_offset, std::nullopt);
}

TEST(NumberingSetting, IsOneOfFour) {
  const std::pair<const char*, Numbering> numberings[] = {{"sequential", Numbering::kSequential},
                                                          {"fixed", Numbering::kFixed},
                                                          {"padding", Numbering::kPadding},
                                                          {"mask", Numbering::kMask}};
  for (const auto& [word, numbering] : numberings) {
    ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseNumbering(absl::StrCat("row_offset: 2, numbering: ", word),
                                                                 "padding_idx: 1, token: { file: t.npy }"));
    EXPECT_EQ(model.numbering, numbering) << word;
  }
}

TEST(NumberingSetting, OtherWordsAreRefused) {
  EXPECT_THAT(ParseNumbering("numbering: cumsum"),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].position.numbering: must be sequential, fixed, padding or mask, "
                       "got \"cumsum\""));
  EXPECT_THAT(ParseNumbering("numbering: [fixed]"), StatusIs(kInvalid, HasSubstr("got a list")));
}

TEST(NumberingSetting, GoesWithComputedPositions) {
  ASSERT_OK_AND_ASSIGN(
      const ModelConfig model,
      ParseOneModel("token: { file: t.npy }, position: { sinusoidal: { max_context_length: 4 }, numbering: fixed }"));

  EXPECT_EQ(model.numbering, Numbering::kFixed);
}

TEST(NumberingSetting, PaddingNeedsThePaddingsId) {
  EXPECT_THAT(ParseNumbering("numbering: padding"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].position.numbering: padding needs padding_idx"));
  EXPECT_THAT(ParseBesideAPath("numbering: padding"), testing::IsOk());
}

TEST(NumberingSetting, MaskNeedsAnOffset) {
  constexpr char kMessage[] = "c/e.yaml:1: models[0].position.numbering: mask needs row_offset >= 1";
  EXPECT_THAT(ParseNumbering("numbering: mask"), StatusIs(kInvalid, kMessage));
  EXPECT_THAT(ParseNumbering("numbering: mask, row_offset: 0"), StatusIs(kInvalid, kMessage));
  EXPECT_THAT(ParseBesideAPath("numbering: mask, row_offset: 0"), StatusIs(kInvalid, kMessage));
  EXPECT_THAT(ParseBesideAPath("numbering: mask"), testing::IsOk());
}

TEST(NumberingSetting, StandsAloneBesideAPathAndLeavesTheKindToIt) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseBesideAPath("numbering: fixed, row_offset: 2"));

  EXPECT_EQ(model.position, std::nullopt);
  EXPECT_EQ(model.numbering, Numbering::kFixed);
  EXPECT_EQ(model.row_offset, 2);
}

TEST(NumberingSetting, NeedsAKindWithoutAPath) {
  for (const char* keys : {"numbering: fixed", "row_offset: 2"}) {
    EXPECT_THAT(ParseOneModel(absl::StrCat("token: { file: t.npy }, position: { ", keys, " }")),
                StatusIs(kInvalid,
                         "c/e.yaml:1: models[0].position: must hold one of none, learned, sinusoidal, rotary, "
                         "got none of them"));
  }
}

TEST(NumberingSetting, DoesNotGoWithKindsWithoutRows) {
  for (const char* rest : {kTokensFromDisk, kFolder}) {
    for (const char* kind : {"none", "rotary"}) {
      for (const char* key : {"numbering: sequential", "row_offset: 0"}) {
        EXPECT_THAT(
            ParseOneModel(absl::StrCat("position: { ", kind, ": {}, ", key, " }, ", rest)),
            StatusIs(kInvalid, HasSubstr(absl::StrCat(": does not go with ", kind, ": no table row is numbered"))))
            << key;
      }
    }
  }
}

TEST(RowOffsetSetting, IsAnIntegerOf31Bits) {
  ASSERT_OK_AND_ASSIGN(const ModelConfig model, ParseNumbering("row_offset: 2147483647"));
  EXPECT_EQ(model.row_offset, 2147483647);

  for (const char* offset : {"-1", "2147483648", "1.5"}) {
    EXPECT_THAT(
        ParseNumbering(absl::StrCat("row_offset: ", offset)),
        StatusIs(kInvalid, absl::StrCat("c/e.yaml:1: models[0].position.row_offset: must be an integer from 0 to "
                                        "2147483647, got \"",
                                        offset, "\"")));
  }
}

TEST(RowOffsetSetting, LeavesARowOfATableThatNoFileHolds) {
  const auto parse = [](absl::string_view position) {
    return ParseOneModel(absl::StrCat("token: { seeded: { vocab_size: 9, embedding_dim: 4 } }, padding_idx: 2, ",
                                      "position: { ", position, " }"));
  };
  constexpr char kOf4[] = "learned: { seeded: { max_context_length: 4 } }, ";
  EXPECT_THAT(parse(absl::StrCat(kOf4, "row_offset: 3")), testing::IsOk());
  EXPECT_THAT(parse(absl::StrCat(kOf4, "numbering: padding")), testing::IsOk());
  EXPECT_THAT(parse(absl::StrCat(kOf4, "row_offset: 4")),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].position.row_offset: begins at row 4, the table has 4"));
  EXPECT_THAT(parse(absl::StrCat(kOf4, "numbering: padding, row_offset: 1")),
              StatusIs(kInvalid, HasSubstr("position.row_offset: begins at row 4, the table has 4")));
  EXPECT_THAT(parse("learned: { seeded: { max_context_length: 3 } }, numbering: padding"),
              StatusIs(kInvalid, HasSubstr("position.numbering: begins at row 3, the table has 3")));
  EXPECT_THAT(parse("sinusoidal: { max_context_length: 4 }, row_offset: 4"),
              StatusIs(kInvalid, HasSubstr("position.row_offset: begins at row 4, the table has 4")));
  EXPECT_THAT(parse("sinusoidal: { max_context_length: 4, grow_to: 5 }, row_offset: 4"), testing::IsOk());
}

}  // namespace
}  // namespace embd::config
