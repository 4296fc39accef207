#include "server/core/kernels/rotate.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/kernels/reference_element.h"
#include "server/core/kernels/simd_target.h"
#include "server/core/position/rotary_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/core/rotary_golden.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::FloatNear;

constexpr ElementType kInputTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16,
                                       ElementType::kFloat64};
constexpr ElementType kOutputTypes[] = {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16};

// Numbers as models have them, and a few zeros; NaNs aside, which have tests of their own.
std::vector<std::byte> RandomVectors(std::size_t count, ElementType type, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(count * ElementSize(type));
  for (std::size_t i = 0; i < count; ++i) {
    const double value = random() % 16 == 0 ? 0.0 : std::ldexp(static_cast<double>(random() >> 11), -50) - 2;
    if (type == ElementType::kFloat64) {
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    } else {
      WriteFloat(static_cast<float>(value), bytes.data(), i, type);
    }
  }
  return bytes;
}

std::vector<std::byte> RunPoisoned(void (*rotate)(const RotateArguments&), RotateArguments arguments) {
  constexpr std::size_t kGuard = 64;
  const std::size_t size = arguments.vector_count * arguments.head_dim * ElementSize(arguments.output_type);
  std::vector<std::byte> out(size + 2 * kGuard, std::byte{0xCD});
  arguments.out = out.data() + kGuard;
  rotate(arguments);
  for (std::size_t i = 0; i < kGuard; ++i) {
    EXPECT_EQ(out[i], std::byte{0xCD}) << "wrote before the output";
    EXPECT_EQ(out[size + kGuard + i], std::byte{0xCD}) << "wrote behind the output";
  }
  return {out.begin() + kGuard, out.end() - kGuard};
}

// One float32 vector turned at a position.
std::vector<float> Turned(const RotaryParameters& parameters, std::int64_t position, const std::vector<float>& x,
                          std::int64_t scaling_length = 1, RotaryDirection direction = RotaryDirection::kForward,
                          RotaryLayout layout = RotaryLayout::kSame) {
  const RotaryFrequencies frequencies = ResolveRotary(parameters, scaling_length).value();
  std::vector<float> cos(frequencies.inv_freq.size()), sin(cos.size()), out(x.size());
  RotaryRow(frequencies, position, direction, cos.data(), sin.data());
  Rotate({.vector_count = 1,
          .head_dim = x.size(),
          .paired_dim = 2 * cos.size(),
          .pairing = parameters.pairing,
          .layout = layout,
          .cos = cos.data(),
          .sin = sin.data(),
          .in = reinterpret_cast<const std::byte*>(x.data()),
          .out = reinterpret_cast<std::byte*>(out.data())});
  return out;
}

auto Near(float expected) { return FloatNear(expected, 1e-5f); }

class RotateOnTarget : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_THAT(CapSimdTarget(GetParam()), IsOk()); }
  void TearDown() override { ASSERT_THAT(CapSimdTarget("avx3"), IsOk()); }
};

INSTANTIATE_TEST_SUITE_P(AllTargets, RotateOnTarget, ::testing::ValuesIn(SupportedSimdTargets()),
                         [](const auto& target) { return target.param; });

TEST_P(RotateOnTarget, EqualsTheReferenceForAllTypesPairingsAndAwkwardWidths) {
  struct Width {
    std::size_t head = 0, paired = 0;
  };
  constexpr Width kWidths[] = {{2, 2},   {3, 2},   {6, 6},     {16, 14},   {17, 16},   {30, 30},   {34, 32},
                               {66, 66}, {70, 64}, {128, 128}, {131, 130}, {200, 126}, {270, 134}, {400, 258}};
  constexpr std::size_t kVectors = 3;
  for (const auto& [head, paired] : kWidths) {
    const auto table = RandomVectors(2 * kVectors * paired / 2, ElementType::kFloat32, paired);
    const auto* const cos = reinterpret_cast<const float*>(table.data());
    for (const ElementType input_type : kInputTypes) {
      const auto in = RandomVectors(kVectors * head, input_type, head);
      for (const ElementType output_type : kOutputTypes) {
        for (const int form : {0, 1, 2}) {
          for (const std::size_t step : {std::size_t{0}, paired / 2}) {
            SCOPED_TRACE(absl::StrCat(ElementTypeName(input_type), " -> ", ElementTypeName(output_type), ", ", head,
                                      " of which ", paired, ", form ", form, ", step ", step));
            const RotateArguments arguments = {
                .vector_count = kVectors,
                .head_dim = head,
                .paired_dim = paired,
                .pairing = form == 0 ? RotaryPairing::kHalf : RotaryPairing::kInterleaved,
                .layout = form == 2 ? RotaryLayout::kSplit : RotaryLayout::kSame,
                .cos = cos,
                .sin = cos + kVectors * paired / 2,
                .table_step = step,
                .input_type = input_type,
                .in = in.data(),
                .output_type = output_type};
            ASSERT_TRUE(RunPoisoned(&Rotate, arguments) == RunPoisoned(&RotateReference, arguments));
          }
        }
      }
    }
  }
}

// With FMA x·c − y·s would not be 0 here: the rounded product and the exact one differ.
TEST_P(RotateOnTarget, MultipliesAndAddsWithoutFusing) {
  for (const std::size_t half : {1u, 33u}) {
    const std::vector<float> x(2 * half, 1.0f + 0x1p-12f);
    const std::vector<float> same(half, 1.0f + 0x1p-13f);
    std::vector<float> out(x.size(), 1.0f);
    Rotate({.vector_count = 1,
            .head_dim = x.size(),
            .paired_dim = x.size(),
            .cos = same.data(),
            .sin = same.data(),
            .in = reinterpret_cast<const std::byte*>(x.data()),
            .out = reinterpret_cast<std::byte*>(out.data())});
    for (std::size_t i = 0; i < half; ++i) EXPECT_EQ(out[i], 0.0f) << i;
  }
}

TEST_P(RotateOnTarget, GoldenVectorsOfEveryKindOfScaling) {
  for (const RotaryGolden& golden : ReadRotaryGolden()) {
    SCOPED_TRACE(golden.line);
    const auto found =
        Turned(golden.parameters, golden.position, GoldenInput(golden.parameters.head_dim), golden.scaling_length);
    ASSERT_EQ(found.size(), golden.turned.size());
    // Two products of factors that are rounded once, and their sum: 2.5 ulp of |x| <= 2 times the attention factor; the
    // angle in double is off by p * inv_freq * 2^-52.
    const double tolerance =
        2 * golden.attention_factor * (5 * 0x1p-24 + static_cast<double>(golden.position) * 0x1p-50);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], golden.turned[i], tolerance) << i;
  }
}

TEST_P(RotateOnTarget, NansStayNans) {
  std::vector<float> x(16, std::numeric_limits<float>::quiet_NaN());
  for (const float value : Turned({.head_dim = 16}, 3, x)) EXPECT_TRUE(std::isnan(value));
}

TEST(Rotate, ComponentsBehindRotaryDimPassBitForBit) {
  std::vector<float> x = {1, 2, 3, 4, 0.1f, -0.0f};
  const std::uint32_t signalling = 0x7F800001u;
  std::memcpy(&x[5], &signalling, sizeof signalling);
  const auto found = Turned({.head_dim = 6, .rotary_dim = 4}, 5, x);

  EXPECT_EQ(std::memcmp(&found[4], &x[4], 2 * sizeof(float)), 0);
}

// A report of two programs that mixed up the pairings: each has values of its own.
TEST(RotatePairing, HalfAndInterleavedTurnTheKnownVectorTheirOwnWay) {
  const std::vector<float> x = {1, 2, 3, 4};

  EXPECT_THAT(Turned({.head_dim = 4}, 1, x),
              ElementsAre(Near(-1.984111f), Near(1.959901f), Near(2.462378f), Near(4.019800f)));
  EXPECT_THAT(Turned({.head_dim = 4, .pairing = RotaryPairing::kInterleaved}, 1, x),
              ElementsAre(Near(-1.142640f), Near(1.922076f), Near(2.959851f), Near(4.029800f)));
}

TEST(RotateLayout, SplitPutsTheFirstComponentsBeforeTheSecondOnes) {
  EXPECT_THAT(Turned({.head_dim = 4, .pairing = RotaryPairing::kInterleaved}, 1, {1, 2, 3, 4}, 1,
                     RotaryDirection::kForward, RotaryLayout::kSplit),
              ElementsAre(Near(-1.142640f), Near(2.959851f), Near(1.922076f), Near(4.029800f)));
}

TEST(RotateRelation, ScoreDependsOnTheDistanceAlone) {
  const auto score = [](std::int64_t query_at, std::int64_t key_at, RotaryPairing pairing) {
    const RotaryParameters parameters = {.head_dim = 64, .pairing = pairing};
    std::vector<float> key = GoldenInput(64);
    std::reverse(key.begin(), key.end());
    const auto q = Turned(parameters, query_at, GoldenInput(64));
    const auto k = Turned(parameters, key_at, key);
    double sum = 0;
    for (std::size_t i = 0; i < q.size(); ++i) sum += static_cast<double>(q[i]) * static_cast<double>(k[i]);
    return sum;
  };
  for (const RotaryPairing pairing : {RotaryPairing::kHalf, RotaryPairing::kInterleaved}) {
    EXPECT_NEAR(score(5, 3, pairing), score(105, 103, pairing), 1e-4);
    EXPECT_GT(std::fabs(score(5, 3, pairing) - score(5, 4, pairing)), 1e-2);
  }
}

TEST(RotateInverse, UndoesEveryKindOfScaling) {
  for (const RotaryGolden& golden : ReadRotaryGolden()) {
    SCOPED_TRACE(golden.line);
    const auto x = GoldenInput(golden.parameters.head_dim);
    const auto there = Turned(golden.parameters, golden.position, x, golden.scaling_length);
    const auto back =
        Turned(golden.parameters, golden.position, there, golden.scaling_length, RotaryDirection::kBackward);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(back[i], x[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace embd::core
