#include "server/core/tensor/float_bits.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "gmock/gmock.h"

namespace embd::core {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

constexpr float FromBits(std::uint32_t bits) { return std::bit_cast<float>(bits); }
constexpr std::uint32_t Bits(float value) { return std::bit_cast<std::uint32_t>(value); }

// Visits floats of every exponent, both signs and, a prime apart, most ends of the mantissa; about 43 million of 2^32.
template <typename Visitor>
void ForManyFloats(Visitor visit) {
  for (std::uint64_t bits = 0; bits < (std::uint64_t{1} << 32); bits += 101) {
    visit(FromBits(static_cast<std::uint32_t>(bits)));
  }
}

// Visits each value halfway between two neighbours of a type whose mantissa ends `dropped` bits above float32's, and
// the floats next to it on either side.
template <typename Visitor>
void ForFloatsAroundTies(int dropped, Visitor visit) {
  const std::uint64_t step = std::uint64_t{1} << dropped;
  for (std::uint64_t tie = step / 2; tie < (std::uint64_t{1} << 32); tie += step) {
    for (const int offset : {-1, 0, 1}) {
      visit(FromBits(static_cast<std::uint32_t>(tie + static_cast<std::uint64_t>(offset))));
    }
  }
}

// The float16 or bfloat16 next to `value`, by scaling to a whole number of units and rounding that in double; NaN
// excluded.
std::uint16_t RoundInDouble(float value, int mantissa_bits, int exponent_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t infinity = ((1u << exponent_bits) - 1u) << mantissa_bits;
  const std::uint32_t sign = std::signbit(value) ? 0x8000u : 0u;
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | infinity);
  if (magnitude == 0.0) return static_cast<std::uint16_t>(sign);
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = std::nearbyint(std::ldexp(magnitude, mantissa_bits - exponent));
  // Units from 2^mantissa_bits on hold the hidden bit, which adds one to the exponent field.
  const std::uint32_t field = static_cast<std::uint32_t>(exponent + bias - 1) << mantissa_bits;
  return static_cast<std::uint16_t>(sign | std::min(infinity, field + static_cast<std::uint32_t>(units)));
}

double HalfValue(std::uint16_t half) {
  const int exponent = (half >> 10) & 0x1F;
  const int mantissa = half & 0x3FF;
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(FloatToHalf, KnownValues) {
  EXPECT_EQ(FloatToHalf(0.0f), 0x0000);
  EXPECT_EQ(FloatToHalf(-0.0f), 0x8000);
  EXPECT_EQ(FloatToHalf(1.0f), 0x3C00);
  EXPECT_EQ(FloatToHalf(1.00390625f), 0x3C04);
  EXPECT_EQ(FloatToHalf(65504.0f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65519.996f), 0x7BFF);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7C00);
  EXPECT_EQ(FloatToHalf(-1e30f), 0xFC00);
  EXPECT_EQ(FloatToHalf(kInfinity), 0x7C00);
  EXPECT_EQ(FloatToHalf(-kInfinity), 0xFC00);
  EXPECT_EQ(FloatToHalf(1e-8f), 0x0000);
  EXPECT_EQ(FloatToHalf(-1e-8f), 0x8000);
}

TEST(FloatToHalf, SubnormalBoundaries) {
  EXPECT_EQ(FloatToHalf(0x1p-25f), 0x0000) << "a tie between 0 and the smallest subnormal goes to the even one";
  EXPECT_EQ(FloatToHalf(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(FloatToHalf(0x1p-24f), 0x0001);
  EXPECT_EQ(FloatToHalf(0x1.8p-24f), 0x0002) << "a tie between 1 and 2 units";
  EXPECT_EQ(FloatToHalf(0x1.ff8p-15f), 0x03FF) << "the largest subnormal";
  EXPECT_EQ(FloatToHalf(0x1.ffap-15f), 0x03FF);
  EXPECT_EQ(FloatToHalf(0x1.ffcp-15f), 0x0400) << "a tie that becomes the smallest normal";
  EXPECT_EQ(FloatToHalf(0x1p-14f), 0x0400);
  EXPECT_EQ(FloatToHalf(FromBits(0x00000001)), 0x0000) << "float32's own smallest subnormal";
}

TEST(FloatToHalf, NaNKeepsItsUpperBitsAndBecomesQuiet) {
  EXPECT_EQ(FloatToHalf(FromBits(0x7FC00000)), 0x7E00);
  EXPECT_EQ(FloatToHalf(FromBits(0xFFC00000)), 0xFE00);
  EXPECT_EQ(FloatToHalf(FromBits(0x7F800001)), 0x7E00) << "payload below the upper ten bits";
  EXPECT_EQ(FloatToHalf(FromBits(0x7F80C000)), 0x7E06);
  EXPECT_EQ(FloatToHalf(FromBits(0xFFFFFFFF)), 0xFFFF);
}

TEST(FloatToHalf, AgreesWithRoundingInDouble) {
  std::int64_t wrong = 0;
  const auto check = [&wrong](float value) {
    if (!std::isnan(value)) wrong += FloatToHalf(value) != RoundInDouble(value, 10, 5);
  };

  ForManyFloats(check);
  ForFloatsAroundTies(13, check);

  EXPECT_EQ(wrong, 0);
}

TEST(HalfToFloat, EveryPatternHasItsValue) {
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto half = static_cast<std::uint16_t>(pattern);
    if ((half & 0x7C00) == 0x7C00) continue;  // Inf and NaN: below
    ASSERT_EQ(static_cast<double>(HalfToFloat(half)), HalfValue(half)) << std::hex << pattern;
    ASSERT_EQ(std::signbit(HalfToFloat(half)), (half & 0x8000) != 0) << std::hex << pattern;
  }
}

TEST(HalfToFloat, InfinityAndNaN) {
  EXPECT_EQ(HalfToFloat(0x7C00), kInfinity);
  EXPECT_EQ(HalfToFloat(0xFC00), -kInfinity);
  EXPECT_EQ(Bits(HalfToFloat(0x7E00)), 0x7FC00000u);
  EXPECT_EQ(Bits(HalfToFloat(0x7C01)), 0x7FC02000u) << "signalling becomes quiet";
  EXPECT_EQ(Bits(HalfToFloat(0xFFFF)), 0xFFFFE000u);
}

TEST(HalfToFloat, ComesBackAsTheSamePattern) {
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto half = static_cast<std::uint16_t>(pattern);
    const bool is_nan = (half & 0x7FFF) > 0x7C00;
    ASSERT_EQ(FloatToHalf(HalfToFloat(half)), is_nan ? half | 0x0200 : half) << std::hex << pattern;
  }
}

TEST(FloatToBFloat16, KnownValues) {
  EXPECT_EQ(FloatToBFloat16(-0.0f), 0x8000);
  EXPECT_EQ(FloatToBFloat16(1.0f), 0x3F80);
  EXPECT_EQ(FloatToBFloat16(1.00390625f), 0x3F80) << "a tie goes to the even neighbour";
  EXPECT_EQ(FloatToBFloat16(1.01171875f), 0x3F82) << "a tie goes to the even neighbour";
  EXPECT_EQ(FloatToBFloat16(65519.996f), 0x4780);
  EXPECT_EQ(FloatToBFloat16(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(FloatToBFloat16(-kInfinity), 0xFF80);
  EXPECT_EQ(FloatToBFloat16(FromBits(0x7F800001)), 0x7FC0);
  EXPECT_EQ(FloatToBFloat16(FromBits(0xFFFFFFFF)), 0xFFFF);
  EXPECT_EQ(FloatToBFloat16(1e-8f), 0x322C);
  EXPECT_EQ(FloatToBFloat16(FromBits(0x00008000)), 0x0000) << "a tie between 0 and the smallest subnormal";
  EXPECT_EQ(FloatToBFloat16(FromBits(0x00008001)), 0x0001);
  EXPECT_EQ(FloatToBFloat16(FromBits(0x007FFFFF)), 0x0080) << "the smallest normal";
}

TEST(FloatToBFloat16, AgreesWithRoundingInDouble) {
  std::int64_t wrong = 0;
  const auto check = [&wrong](float value) {
    if (!std::isnan(value)) wrong += FloatToBFloat16(value) != RoundInDouble(value, 7, 8);
  };

  ForManyFloats(check);
  ForFloatsAroundTies(16, check);

  EXPECT_EQ(wrong, 0);
}

TEST(BFloat16ToFloat, EveryPatternKeepsItsBitsAndComesBack) {
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto bfloat16 = static_cast<std::uint16_t>(pattern);
    const bool is_nan = (bfloat16 & 0x7FFF) > 0x7F80;
    ASSERT_EQ(Bits(BFloat16ToFloat(bfloat16)), pattern << 16);
    ASSERT_EQ(FloatToBFloat16(BFloat16ToFloat(bfloat16)), is_nan ? bfloat16 | 0x0040 : bfloat16);
  }
}

#if defined(__x86_64__)

__attribute__((target("f16c"))) std::uint16_t FloatToHalfByCpu(float value) {
  return static_cast<std::uint16_t>(_mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT), 0));
}

__attribute__((target("f16c"))) float HalfToFloatByCpu(std::uint16_t half) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
}

TEST(FloatToHalf, AgreesWithTheCpusInstruction) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this CPU has no F16C";
  std::int64_t wrong = 0;
  const auto check = [&wrong](float value) { wrong += FloatToHalf(value) != FloatToHalfByCpu(value); };

  ForManyFloats(check);
  ForFloatsAroundTies(13, check);

  EXPECT_EQ(wrong, 0);
}

TEST(HalfToFloat, AgreesWithTheCpusInstruction) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this CPU has no F16C";
  for (std::uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto half = static_cast<std::uint16_t>(pattern);
    ASSERT_EQ(Bits(HalfToFloat(half)), Bits(HalfToFloatByCpu(half))) << std::hex << pattern;
  }
}

#endif

}  // namespace
}  // namespace embd::core
