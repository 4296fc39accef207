#include "server/core/position/rotary.h"

#include <cmath>
#include <limits>

#include "gmock/gmock.h"
#include "server/core/position/rotary_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/core/rotary_golden.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> Frequencies(const RotaryParameters& parameters, std::int64_t length = 1) {
  const auto resolved = ResolveRotary(parameters, length);
  EXPECT_THAT(resolved, IsOk());
  return resolved.ok() ? resolved->inv_freq : std::vector<double>(512, kNan);
}

double Attention(const RotaryParameters& parameters) {
  const auto resolved = ResolveRotary(parameters, 1);
  EXPECT_THAT(resolved, IsOk());
  return resolved.ok() ? resolved->attention_factor : kNan;
}

auto IsAbout(double expected) { return ::testing::DoubleNear(expected, 1e-7 * std::fabs(expected)); }

auto Refuses(const std::string& text) { return AllOf(StatusIs(kInvalid, HasSubstr(text)), ReasonIs("INVALID_OPTION")); }

RotaryParameters Wide(RotaryScaling scaling, double theta = 10000.0) {
  return {.head_dim = 128, .theta = theta, .scaling = std::move(scaling)};
}

TEST(RotaryGolden, EveryKindOfScalingEqualsThePublishedFormula) {
  const auto cases = ReadRotaryGolden();
  ASSERT_THAT(cases, SizeIs(48));
  for (const RotaryGolden& golden : cases) {
    SCOPED_TRACE(golden.line);
    const auto resolved = ResolveRotary(golden.parameters, golden.scaling_length);
    ASSERT_THAT(resolved, IsOk());
    ASSERT_EQ(resolved->inv_freq.size(), golden.inv_freq.size());
    for (std::size_t i = 0; i < golden.inv_freq.size(); ++i) {
      EXPECT_NEAR(resolved->inv_freq[i], golden.inv_freq[i], 1e-13 * golden.inv_freq[i]) << i;
    }
    EXPECT_NEAR(resolved->attention_factor, golden.attention_factor, 1e-14);
  }
}

TEST(RotaryFrequencies, DefaultLinearAndNtkHaveTheKnownValues) {
  RotaryParameters narrow = {.head_dim = 8};
  EXPECT_THAT(Frequencies(narrow), ElementsAre(1, IsAbout(0.1), IsAbout(0.01), IsAbout(0.001)));
  narrow.scaling = {.type = "linear", .factor = 4.0};
  EXPECT_THAT(Frequencies(narrow), ElementsAre(0.25, IsAbout(0.025), IsAbout(0.0025), IsAbout(0.00025)));
  narrow.scaling = {.type = "ntk", .factor = 4.0};
  EXPECT_THAT(Frequencies(narrow), ElementsAre(1, IsAbout(0.062996052), IsAbout(0.0039685026), IsAbout(0.00025)));
}

TEST(RotaryFrequencies, Llama3HasTheKnownValues) {
  const auto found = Frequencies(Wide({.type = "llama3",
                                       .factor = 8.0,
                                       .original_max_position_embeddings = 8192,
                                       .low_freq_factor = 1.0,
                                       .high_freq_factor = 4.0},
                                      500000.0));

  EXPECT_EQ(found[0], 1);
  EXPECT_THAT(found[28], IsAbout(3.211446e-3));
  EXPECT_THAT(found[29], IsAbout(2.1665708e-3));
  EXPECT_THAT(found[30], IsAbout(1.3718936e-3));
  EXPECT_THAT(found[31], IsAbout(8.5675141e-4));
  EXPECT_THAT(found[32], IsAbout(5.2484616e-4));
  EXPECT_THAT(found[34], IsAbout(1.7850781e-4));
  EXPECT_THAT(found[35], IsAbout(9.5562124e-5));
  EXPECT_THAT(found[63], IsAbout(3.068926e-7));
}

TEST(RotaryFrequencies, YarnHasTheKnownValues) {
  const RotaryParameters yarn = Wide({.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 2048});
  const auto found = Frequencies(yarn);

  EXPECT_THAT(found[10], IsAbout(0.23713737));
  EXPECT_THAT(found[20], IsAbout(0.049486037));
  EXPECT_THAT(found[30], IsAbout(0.0077344243));
  EXPECT_THAT(found[40], IsAbout(8.8543774e-4));
  EXPECT_THAT(found[63], IsAbout(2.886955e-5));
  EXPECT_THAT(Attention(yarn), IsAbout(1.1386294));
}

TEST(RotaryFrequencies, YarnRampGoesFromPair16To41) {
  const auto plain = Frequencies(Wide({}));
  const auto found = Frequencies(Wide({.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 2048}));

  EXPECT_EQ(found[16], plain[16]);
  EXPECT_LT(found[17], plain[17]);
  EXPECT_GT(found[40], plain[40] / 4);
  EXPECT_EQ(found[41], plain[41] / 4);
}

TEST(RotaryFrequencies, DynamicRaisesTheBaseWithTheLength) {
  const RotaryParameters dynamic = Wide({.type = "dynamic", .factor = 2.0, .max_position_embeddings = 2048});

  EXPECT_EQ(Frequencies(dynamic, 100), Frequencies(Wide({})));
  EXPECT_EQ(Frequencies(dynamic, 2048), Frequencies(Wide({})));
  // inv_freq[1] = base^(-2/128)
  EXPECT_NEAR(std::pow(Frequencies(dynamic, 4096)[1], -64), 30527.737, 1e-3);
}

TEST(RotaryFrequencies, LongRopeTakesTheLongDivisorsPastTheLengthTrainedOn) {
  const RotaryParameters longrope = {.head_dim = 4,
                                     .scaling = {.type = "longrope",
                                                 .original_max_position_embeddings = 4096,
                                                 .max_position_embeddings = 131072,
                                                 .short_factor = {1, 2},
                                                 .long_factor = {4, 8}}};

  EXPECT_THAT(Frequencies(longrope, 4096), ElementsAre(1, IsAbout(0.005)));
  EXPECT_THAT(Frequencies(longrope, 4097), ElementsAre(0.25, IsAbout(0.00125)));
  EXPECT_THAT(Attention(longrope), IsAbout(1.1902381));
}

TEST(RotaryFrequencies, OldNameOfLongRopeMeansTheSame) {
  RotaryParameters parameters = {.head_dim = 4,
                                 .scaling = {.type = "longrope",
                                             .factor = 2.0,
                                             .max_position_embeddings = 64,
                                             .short_factor = {1, 2},
                                             .long_factor = {4, 8}}};
  const auto expected = Frequencies(parameters, 65);
  parameters.scaling.type = "su";

  EXPECT_EQ(Frequencies(parameters, 65), expected);
}

TEST(RotaryFrequencies, ProportionalTurnsTheFirstPartWithTheExponentsOfTheWholeHead) {
  const RotaryParameters parameters = {
      .head_dim = 8, .rotary_dim = 2, .theta = 1e6, .scaling = {.type = "proportional"}};

  EXPECT_THAT(Frequencies(parameters), ElementsAre(1, 0, 0, 0));
  EXPECT_EQ(PairedDim(parameters), 8);
}

TEST(RotaryFrequencies, MscaleRatioIsTheAttentionFactor) {
  EXPECT_THAT(Attention(Wide({.type = "yarn",
                              .factor = 40.0,
                              .original_max_position_embeddings = 4096,
                              .mscale = 1.0,
                              .mscale_all_dim = 0.707})),
              IsAbout(1.0857264));
}

// A report of defaults that a loader got wrong: no factor means 1, no betas mean 32 and 1.
TEST(RotaryDefaults, MissingOptionalFieldsMeanWhatTheModelsAuthorsMean) {
  EXPECT_EQ(Frequencies(Wide({.type = "proportional"})), Frequencies(Wide({})));
  const RotaryScaling bare = {.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 2048};
  RotaryScaling spelled_out = bare;
  spelled_out.beta_fast = 32;
  spelled_out.beta_slow = 1;
  spelled_out.truncate = true;
  spelled_out.attention_factor = 0.1 * std::log(4.0) + 1;
  EXPECT_EQ(Frequencies(Wide(bare)), Frequencies(Wide(spelled_out)));
  EXPECT_DOUBLE_EQ(Attention(Wide(bare)), Attention(Wide(spelled_out)));
}

TEST(RotaryDefaults, ZeroBetasCountAsUnset) {
  RotaryScaling scaling = {.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 2048};
  const auto expected = Frequencies(Wide(scaling));
  scaling.beta_fast = 0;
  scaling.beta_slow = 0;

  EXPECT_EQ(Frequencies(Wide(scaling)), expected);
}

TEST(RotaryDefaults, RotaryDimOfZeroMeansTheWholeHead) {
  EXPECT_EQ(Frequencies({.head_dim = 8, .rotary_dim = 0}), Frequencies({.head_dim = 8}));
}

// A report of a loader that refused a type whose fields it did not expect.
TEST(RotaryScalingTypes, EveryTypeNamesTheFieldThatIsMissing) {
  const auto missing = [](RotaryScaling scaling) { return ResolveRotary(Wide(std::move(scaling)), 1); };
  const std::vector<double> ones(64, 1.0);
  EXPECT_THAT(missing({.type = "linear"}), Refuses("type linear needs factor"));
  EXPECT_THAT(missing({.type = "ntk"}), Refuses("type ntk needs factor"));
  EXPECT_THAT(missing({.type = "dynamic"}), Refuses("type dynamic needs factor"));
  EXPECT_THAT(missing({.type = "dynamic", .factor = 2.0}), Refuses("type dynamic needs max_position_embeddings"));
  EXPECT_THAT(missing({.type = "yarn", .factor = 2.0}), Refuses("type yarn needs original_max_position_embeddings"));
  EXPECT_THAT(missing({.type = "yarn", .original_max_position_embeddings = 8}), Refuses("type yarn needs factor"));
  EXPECT_THAT(missing({.type = "longrope"}), Refuses("type longrope needs short_factor"));
  EXPECT_THAT(missing({.type = "longrope", .short_factor = ones}), Refuses("type longrope needs long_factor"));
  EXPECT_THAT(missing({.type = "longrope", .short_factor = ones, .long_factor = ones}),
              Refuses("type longrope needs original_max_position_embeddings"));
  EXPECT_THAT(
      missing({.type = "longrope", .original_max_position_embeddings = 8, .short_factor = ones, .long_factor = ones}),
      Refuses("type longrope needs factor"));
  EXPECT_THAT(missing({.type = "llama3"}), Refuses("type llama3 needs factor"));
  EXPECT_THAT(missing({.type = "llama3", .factor = 8.0}), Refuses("type llama3 needs low_freq_factor"));
  EXPECT_THAT(missing({.type = "llama3", .factor = 8.0, .low_freq_factor = 1.0}),
              Refuses("type llama3 needs high_freq_factor"));
  EXPECT_THAT(missing({.type = "llama3", .factor = 8.0, .low_freq_factor = 1.0, .high_freq_factor = 4.0}),
              Refuses("type llama3 needs original_max_position_embeddings"));
}

TEST(RotaryScalingTypes, NegativeNumbersAreRefused) {
  RotaryScaling scaling = {.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 2048};
  scaling.mscale = -1;
  EXPECT_THAT(ResolveRotary(Wide(scaling), 1), Refuses("scaling.mscale (type yarn) must be finite and >= 0, got -1"));
  scaling.mscale = 1;
  scaling.beta_slow = -0.5;
  EXPECT_THAT(ResolveRotary(Wide(scaling), 1),
              Refuses("scaling.beta_slow (type yarn) must be finite and >= 0, got -0.5"));
}

TEST(RotaryScalingTypes, UnknownTypeIsRefusedWithTheKnownOnes) {
  EXPECT_THAT(ResolveRotary(Wide({.type = "xpos"}), 1),
              Refuses("scaling.type \"xpos\" is unknown; there are default, linear, ntk, dynamic, yarn, longrope, su, "
                      "llama3, proportional"));
}

TEST(RotaryScalingTypes, FieldsThatTheTypeDoesNotTakeAreNamed) {
  EXPECT_THAT(UnusedFields({.type = "linear", .factor = 2.0, .beta_fast = 1.0, .mscale = 1.0}),
              ElementsAre("beta_fast", "mscale"));
  EXPECT_THAT(UnusedFields({.factor = 2.0}), ElementsAre("factor"));
  EXPECT_THAT(UnusedFields({.type = "yarn", .factor = 2.0, .truncate = false}), ElementsAre());
}

TEST(RotaryErrors, ImpossibleWidthsAreRefused) {
  EXPECT_THAT(ResolveRotary({.head_dim = 0}, 1), Refuses("head_dim must be from 2 to 1048576, got 0"));
  EXPECT_THAT(ResolveRotary({.head_dim = std::int64_t{1} << 40}, 1), Refuses("head_dim must be"));
  EXPECT_THAT(ResolveRotary({.head_dim = 7}, 1), Refuses("head_dim must be even where all of it is turned, got 7"));
  EXPECT_THAT(ResolveRotary({.head_dim = 8, .rotary_dim = 3}, 1), Refuses("rotary_dim must be even, got 3"));
  EXPECT_THAT(ResolveRotary({.head_dim = 8, .rotary_dim = 10}, 1),
              Refuses("rotary_dim must be from 2 to head_dim = 8, got 10"));
  EXPECT_THAT(ResolveRotary({.head_dim = 8, .rotary_dim = -2}, 1), Refuses("got -2"));
  EXPECT_THAT(ResolveRotary({.head_dim = 7, .rotary_dim = 4}, 1), IsOk());
}

TEST(RotaryErrors, ImpossibleNumbersAreRefused) {
  for (const double theta : {0.0, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(ResolveRotary(Wide({}, theta), 1), Refuses("theta must be finite and > 0"));
  }
  for (const double factor : {0.0, -2.0, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(ResolveRotary(Wide({.type = "linear", .factor = factor}), 1),
                Refuses("scaling.factor (type linear) must"));
  }
  EXPECT_THAT(ResolveRotary({.head_dim = 2, .scaling = {.type = "ntk", .factor = 2.0}}, 1),
              Refuses("needs rotary_dim > 2, got 2"));
  EXPECT_THAT(
      ResolveRotary({.head_dim = 2, .scaling = {.type = "dynamic", .factor = 2.0, .max_position_embeddings = 4}}, 1),
      Refuses("needs rotary_dim > 2, got 2"));
  EXPECT_THAT(ResolveRotary(Wide({.type = "dynamic", .factor = 2.0, .max_position_embeddings = 0}), 1),
              Refuses("must be >= 1, got 0"));
  EXPECT_THAT(ResolveRotary({.head_dim = 4,
                             .scaling = {.type = "longrope",
                                         .factor = 2.0,
                                         .max_position_embeddings = 8,
                                         .short_factor = {1, 1, 1},
                                         .long_factor = {1, 1}}},
                            1),
              Refuses("scaling.short_factor (type longrope) has 3 values, but rotary_dim / 2 = 2 are needed"));
  EXPECT_THAT(ResolveRotary({.head_dim = 4,
                             .scaling = {.type = "longrope",
                                         .factor = 2.0,
                                         .max_position_embeddings = 8,
                                         .short_factor = {1, 1},
                                         .long_factor = {1, 0}}},
                            1),
              Refuses("long_factor[1]"));
  EXPECT_THAT(ResolveRotary(Wide({.type = "llama3",
                                  .factor = 8.0,
                                  .original_max_position_embeddings = 8,
                                  .low_freq_factor = 4.0,
                                  .high_freq_factor = 4.0}),
                            1),
              Refuses("must be greater than low_freq_factor 4"));
}

TEST(RotaryErrors, WhatComesOutIsNeverInfiniteOrNan) {
  EXPECT_THAT(ResolveRotary(Wide({.type = "linear", .factor = 1e-308}), 1),
              Refuses("whose angles a double cannot hold"));
  EXPECT_THAT(ResolveRotary(Wide({}, 1e-308), 1), Refuses("whose angles a double cannot hold"));
  EXPECT_THAT(ResolveRotary(Wide({.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 8}, 1.0), 1),
              Refuses("theta must not be 1"));
  EXPECT_THAT(ResolveRotary({.head_dim = 4,
                             .scaling = {.type = "longrope",
                                         .factor = 2.0,
                                         .original_max_position_embeddings = 1,
                                         .short_factor = {1, 1},
                                         .long_factor = {1, 1}}},
                            1),
              Refuses("the attention factor must be from 1e-30 to 1e30"));
  EXPECT_THAT(
      ResolveRotary(
          Wide({.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 8, .attention_factor = 1e300}), 1),
      Refuses("the attention factor must be"));
}

// Rounding once from double keeps within p * 2^-23 + 2^-23 of what float32 arithmetic gives.
TEST(RotaryTable, LiesAsNearToFloat32ArithmeticAsTheContractSays) {
  const RotaryFrequencies frequencies = ResolveRotary({.head_dim = 64}, 1).value();
  std::vector<float> cos(32), sin(32);
  for (const std::int64_t position : {0, 1, 127, 4095, 131071}) {
    RotaryRow(frequencies, position, RotaryDirection::kForward, cos.data(), sin.data());
    const double tolerance = static_cast<double>(position + 1) * 0x1p-23;
    for (std::size_t i = 0; i < 32; ++i) {
      const float angle = static_cast<float>(position) * static_cast<float>(frequencies.inv_freq[i]);
      EXPECT_NEAR(cos[i], std::cos(angle), tolerance) << position << " " << i;
      EXPECT_NEAR(sin[i], std::sin(angle), tolerance) << position << " " << i;
    }
  }
}

TEST(RotaryTable, BackwardDividesByTheAttentionFactor) {
  const RotaryFrequencies frequencies = {.inv_freq = {0.5}, .attention_factor = 2};
  float cos = 0, sin = 0;
  RotaryRow(frequencies, 3, RotaryDirection::kBackward, &cos, &sin);

  EXPECT_FLOAT_EQ(cos, static_cast<float>(std::cos(1.5) / 2));
  EXPECT_FLOAT_EQ(sin, static_cast<float>(-std::sin(1.5) / 2));
}

}  // namespace
}  // namespace embd::core
