// The layouts of computed positions and how far they grow.
#include <utility>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/one_model.h"

namespace embd::config {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

absl::StatusOr<SinusoidalPositions> Parse(absl::string_view keys) {
  auto model = ParseOneModel(keys);
  if (!model.ok()) return model.status();
  return std::get<SinusoidalPositions>(model->position.value());
}

absl::StatusOr<SinusoidalPositions> ParseSinusoidal(absl::string_view keys) {
  return Parse(absl::StrCat("token: { file: t.npy }, position: { sinusoidal: { ", keys, " } }"));
}

absl::StatusOr<SinusoidalPositions> ParseBesideAPath(absl::string_view keys) {
  return Parse(absl::StrCat("path: m2m, position: { sinusoidal: { ", keys, " } }"));
}

absl::StatusOr<SinusoidalPositions> ParseOfWidth(std::int64_t width, absl::string_view layout) {
  return Parse(absl::StrCat("token: { seeded: { vocab_size: 8, embedding_dim: ", width,
                            " } }, position: { sinusoidal: { max_context_length: 6, layout: ", layout, " } }"));
}

TEST(SinusoidalLayoutSetting, IsOneOfThree) {
  const std::pair<const char*, SinusoidalLayout> layouts[] = {{"interleaved", SinusoidalLayout::kInterleaved},
                                                              {"half", SinusoidalLayout::kHalf},
                                                              {"tensor2tensor", SinusoidalLayout::kTensor2Tensor}};
  for (const auto& [word, layout] : layouts) {
    ASSERT_OK_AND_ASSIGN(const SinusoidalPositions positions,
                         ParseSinusoidal(absl::StrCat("max_context_length: 6, layout: ", word)));
    EXPECT_EQ(positions, (SinusoidalPositions{.max_context_length = 6, .layout = layout}));
  }
}

TEST(SinusoidalLayoutSetting, OtherWordsAreRefused) {
  EXPECT_THAT(ParseSinusoidal("max_context_length: 6, layout: fairseq"),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].position.sinusoidal.layout: must be interleaved, half or "
                       "tensor2tensor, got \"fairseq\""));
}

TEST(SinusoidalLayoutSetting, OnlyInterleavedNeedsAnEvenWidth) {
  EXPECT_THAT(ParseOfWidth(5, "interleaved"),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].position.sinusoidal: embedding_dim must be even for sinusoidal, "
                       "got 5"));
  EXPECT_THAT(ParseOfWidth(5, "half"), testing::IsOk());
  EXPECT_THAT(ParseOfWidth(5, "tensor2tensor"), testing::IsOk());
}

TEST(SinusoidalLayoutSetting, WidthsThatDivideByZeroAreRefused) {
  for (const std::int64_t width : {2, 3}) {
    EXPECT_THAT(
        ParseOfWidth(width, "tensor2tensor"),
        StatusIs(kInvalid, absl::StrCat("c/e.yaml:1: models[0].position.sinusoidal: embedding_dim must not be 2 "
                                        "or 3 for tensor2tensor, which divides by zero there, got ",
                                        width)));
  }
  EXPECT_THAT(ParseOfWidth(4, "tensor2tensor"), testing::IsOk());
  EXPECT_THAT(ParseOfWidth(2, "half"), testing::IsOk());
}

TEST(GrowToSetting, IsAboveWhatIsComputedAtLoad) {
  ASSERT_OK_AND_ASSIGN(const SinusoidalPositions positions, ParseSinusoidal("max_context_length: 6, grow_to: 7"));
  EXPECT_EQ(positions, (SinusoidalPositions{.max_context_length = 6, .grow_to = 7}));

  EXPECT_THAT(ParseSinusoidal("max_context_length: 6, grow_to: 6"),
              StatusIs(kInvalid,
                       "c/e.yaml:1: models[0].position.sinusoidal.grow_to: must be an integer from 7 to "
                       "16777216, got \"6\""));
}

TEST(GrowToSetting, IsAtMostTheLargestPositionPlusOne) {
  EXPECT_THAT(ParseSinusoidal("max_context_length: 6, grow_to: 16777216"), testing::IsOk());
  EXPECT_THAT(ParseSinusoidal("max_context_length: 6, grow_to: 16777217"),
              StatusIs(kInvalid, HasSubstr("grow_to: must be an integer from 7 to 16777216, got \"16777217\"")));
}

TEST(GrowToSetting, DoesNotGoWithATableThatIsAsLargeAlready) {
  for (const char* length : {"16777216", "2305843009213693951"}) {
    EXPECT_THAT(ParseSinusoidal(absl::StrCat("grow_to: 16777216, max_context_length: ", length)),
                StatusIs(kInvalid, absl::StrCat("c/e.yaml:1: models[0].position.sinusoidal.grow_to: does not go with "
                                                "max_context_length ",
                                                length, ": tables grow to at most 16777216 positions")));
  }
}

TEST(GrowToSetting, TableOfMoreThan63BitsOfBytesIsRefused) {
  EXPECT_THAT(Parse("token: { seeded: { vocab_size: 1, embedding_dim: 1099511627776 } }, position: { sinusoidal: { "
                    "max_context_length: 1, grow_to: 16777216 } }"),
              StatusIs(kInvalid, HasSubstr("sinusoidal.grow_to: must be at most 2097151 with embedding_dim "
                                           "1099511627776, got 16777216")));
}

TEST(SinusoidalSetting, NeedsAContextLengthWithoutAPath) {
  EXPECT_THAT(ParseSinusoidal("base: 5"),
              StatusIs(kInvalid, "c/e.yaml:1: models[0].position.sinusoidal: max_context_length is missing"));
}

TEST(SinusoidalSetting, AnyKeyMayStandAloneBesideAPath) {
  const std::pair<const char*, SinusoidalPositions> overrides[] = {
      {"", {}},
      {"base: 5", {.base = 5.0}},
      {"max_context_length: 6", {.max_context_length = 6}},
      {"layout: half", {.layout = SinusoidalLayout::kHalf}},
      {"grow_to: 1", {.grow_to = 1}}};
  for (const auto& [keys, expected] : overrides) {
    ASSERT_OK_AND_ASSIGN(const SinusoidalPositions positions, ParseBesideAPath(keys));
    EXPECT_EQ(positions, expected) << keys;
  }
}

}  // namespace
}  // namespace embd::config
