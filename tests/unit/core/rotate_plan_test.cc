#include "server/core/engine/rotate_plan.h"

#include <vector>

#include "gmock/gmock.h"

#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;

constexpr EmbedLimits kLimits = {
    .max_batch_size = 100, .max_sequence_length = 100'000, .max_response_bytes = std::int64_t{1} << 30};

absl::Status GoOn() { return absl::OkStatus(); }

RotateInput InputOf(std::vector<std::int64_t> shape, std::vector<std::int64_t> offsets = {}) {
  RotateInput input;
  input.shape = std::move(shape);
  input.position_offsets = std::move(offsets);
  return input;
}

RotatePlan PlanOf(std::vector<std::int64_t> shape, std::vector<std::int64_t> offsets = {}) {
  RotateInput input = InputOf(std::move(shape), std::move(offsets));
  std::size_t size = ElementSize(input.input_type);
  for (const std::int64_t extent : input.shape) size *= static_cast<std::size_t>(extent);
  input.byte_size = size;
  return RotatePlan::Create(std::move(input), kLimits).value();
}

std::vector<float> Ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 97) / 8.0f - 6;
  return values;
}

std::vector<float> Turned(const RotatePlan& plan, const std::vector<float>& in) {
  std::vector<float> out(in.size());
  EXPECT_THAT(plan.Run(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), GoOn), IsOk());
  return out;
}

TEST(RotatePlan, StopsWhereItIsInterruptedBetweenBlocks) {
  const RotatePlan plan = PlanOf({4, 4096, 2, 64});
  const std::vector<float> in(4 * 4096 * 2 * 64);
  std::vector<float> out(in.size());
  int looks = 0;
  const auto stop_at_third = [&looks] { return ++looks == 3 ? absl::CancelledError("enough") : absl::OkStatus(); };

  EXPECT_THAT(plan.Run(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), stop_at_third),
              StatusIs(absl::StatusCode::kCancelled, "enough"));
  EXPECT_EQ(looks, 3);
}

TEST(RotatePlan, LooksAboutOnceAMegabyteAlsoWithinOnePosition) {
  const RotatePlan plan = PlanOf({1, 1, 65536, 64});
  const std::vector<float> in(65536 * 64);
  std::vector<float> out(in.size());
  int looks = 0;
  const auto count = [&looks] { return ++looks, absl::OkStatus(); };

  EXPECT_THAT(plan.Run(std::as_bytes(std::span(in)), std::as_writable_bytes(std::span(out)), count), IsOk());
  EXPECT_GE(looks, 16);
  EXPECT_LE(looks, 18);
}

// Tables hold 32768 pairs at a time: more positions than that, and rows that share them or do not, come to the same.
TEST(RotatePlan, BlocksOfPositionsJoinWithoutASeam) {
  constexpr std::int64_t kTokens = 20'000, kDim = 4;
  const std::vector<float> in = Ramp(static_cast<std::size_t>(2 * kTokens * kDim));
  const auto shared = Turned(PlanOf({2, kTokens, kDim}, {5}), in);
  const auto apart = Turned(PlanOf({2, kTokens, kDim}, {5, 5}), in);
  EXPECT_EQ(shared, apart);
  for (const std::int64_t cell : {std::int64_t{0}, std::int64_t{16383}, std::int64_t{16384}, kTokens + 16384}) {
    const auto begin = static_cast<std::ptrdiff_t>(cell * kDim);
    const std::vector<float> one(in.begin() + begin, in.begin() + begin + kDim);
    EXPECT_EQ(Turned(PlanOf({1, 1, kDim}, {5 + cell % kTokens}), one),
              std::vector<float>(shared.begin() + begin, shared.begin() + begin + kDim))
        << cell;
  }
}

TEST(RotatePlan, CountsTheAnglesItMustCompute) {
  EXPECT_EQ(PlanOf({3, 10, 2, 8}).angle_count(), 10 * 4);
  EXPECT_EQ(PlanOf({3, 10, 2, 8}, {1, 2, 3}).angle_count(), 3 * 10 * 4);
  EXPECT_EQ(PlanOf({3, 10, 0, 8}).angle_count(), 0);
}

TEST(RotatePlan, SequenceThatCountsPastTheLastPositionIsRefused) {
  constexpr EmbedLimits kNone = {
      .max_batch_size = INT64_MAX, .max_sequence_length = INT64_MAX, .max_response_bytes = INT64_MAX};
  EXPECT_THAT(RotatePlan::Create(InputOf({1, kMaxRotaryPosition + 1, 0, 8}), kNone), IsOk());
  EXPECT_THAT(
      RotatePlan::Create(InputOf({1, kMaxRotaryPosition + 2, 0, 8}), kNone),
      StatusIs(absl::StatusCode::kInvalidArgument, "sequence_length 16777217 goes past the last position, 16777215"));
}

TEST(RotatePlan, HugeExtentsBesideAnEmptyOneOverflowNothing) {
  constexpr EmbedLimits kNone = {
      .max_batch_size = INT64_MAX, .max_sequence_length = INT64_MAX, .max_response_bytes = 1};
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  RotateInput input = InputOf({kHuge, 8, kHuge, 0, 8});
  const auto plan = RotatePlan::Create(input, kNone);

  ASSERT_THAT(plan, IsOk());
  EXPECT_EQ(plan->vector_count(), 0);
  EXPECT_EQ(plan->byte_size(), 0u);
  input.position_ids = {1};
  EXPECT_THAT(RotatePlan::Create(input, kNone), StatusIs(absl::StatusCode::kInvalidArgument, ::testing::_));
}

}  // namespace
}  // namespace embd::core
