#include "server/core/engine/bag_plan.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::MakeFloatTable;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using Ids = std::vector<std::int64_t>;
using Floats = std::vector<float>;

constexpr EmbedLimits kLimits = {.max_batch_size = 4, .max_sequence_length = 5, .max_response_bytes = 64};
constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

// V 4: token row i is (i + 1) in each of `dim` components.
ModelParts Parts(std::int64_t dim = 1) {
  Floats token;
  for (int i = 0; i < 4; ++i) token.insert(token.end(), static_cast<std::size_t>(dim), static_cast<float>(i + 1));
  return {.name = "tiny", .token = ModelTable::Of(MakeFloatTable(4, dim, token), "test", true)};
}

std::shared_ptr<const Model> MakeModel(ModelParts parts) { return Model::Create(std::move(parts)).value(); }

// Bags whose lists live as long as this.
struct Lists {
  Ids ids = {};
  Ids row_lengths = {};
  Floats weights = {};
  BagMode mode = BagMode::kSum;

  [[nodiscard]] BagInput For(std::shared_ptr<const Model> model) const {
    return {.model = std::move(model), .mode = mode, .ids = ids, .row_lengths = row_lengths, .weights = weights};
  }
};

absl::Status Refusal(const Lists& lists) {
  BagPlan plan(ElementType::kFloat32, false, kLimits);
  return plan.Add(lists.For(MakeModel(Parts())));
}

Floats Vectors(const BagPlan& plan) {
  Floats out(plan.byte_size() / sizeof(float), -1.0f);
  EXPECT_THAT(plan.Run(std::as_writable_bytes(std::span(out)), OneThread), IsOk());
  return out;
}

Floats Pool(const Lists& lists, ModelParts parts) {
  BagPlan plan(ElementType::kFloat32, false, kLimits);
  EXPECT_THAT(plan.Add(lists.For(MakeModel(std::move(parts)))), IsOk());
  return Vectors(plan);
}

TEST(BagPlan, GroupsOfDifferentWidthsFollowEachOther) {
  const Lists first = {.ids = {0, 1, 3}, .row_lengths = {2, 1}};
  const Lists second = {.ids = {2}, .row_lengths = {0, 1, 0}};
  BagPlan plan(ElementType::kFloat32, false, kLimits);
  ASSERT_THAT(plan.Add(first.For(MakeModel(Parts(1)))), IsOk());
  ASSERT_THAT(plan.Add(second.For(MakeModel(Parts(2)))), IsOk());

  EXPECT_THAT(Vectors(plan), ElementsAre(3, 4, 0, 0, 3, 3, 0, 0));

  const auto tensors = plan.tensors();
  ASSERT_THAT(tensors, SizeIs(2));
  EXPECT_EQ(tensors[1].rows, 3);
  EXPECT_EQ(tensors[1].dim, 2);
  EXPECT_EQ(tensors[1].offset, 8u);
  EXPECT_EQ(tensors[1].byte_size, 24u);
  EXPECT_EQ(plan.bag_count(), 5);
  EXPECT_EQ(plan.longest_bag(), 2);
}

TEST(BagPlan, ConcatenatedGroupsStandSideBySide) {
  const Lists first = {.ids = {0, 1, 3}, .row_lengths = {2, 1}};
  const Lists second = {.ids = {2}, .row_lengths = {0, 1}};
  BagPlan plan(ElementType::kFloat32, true, kLimits);
  ASSERT_THAT(plan.Add(first.For(MakeModel(Parts(1)))), IsOk());
  ASSERT_THAT(plan.Add(second.For(MakeModel(Parts(2)))), IsOk());

  EXPECT_THAT(Vectors(plan), ElementsAre(3, 0, 0, 4, 3, 3));

  const auto tensors = plan.tensors();
  ASSERT_THAT(tensors, SizeIs(1));
  EXPECT_EQ(tensors[0].rows, 2);
  EXPECT_EQ(tensors[0].dim, 3);
}

TEST(BagPlan, ScalePaddingAndSaturationAreTheModels) {
  ModelParts parts = Parts();
  parts.token_scale = 10;
  parts.padding_idx = 3;
  parts.saturate = true;
  const Lists lists = {.ids = {0, 3, 2}, .row_lengths = {3}, .weights = {1, 1, 1000}, .mode = BagMode::kMean};
  EXPECT_FLOAT_EQ(Pool(lists, std::move(parts))[0], 30010.0f / 1001.0f);
}

TEST(BagPlan, IdsOutOfRangeAreReadAsThePolicySays) {
  const Lists lists = {.ids = {-1, 0, 4}, .row_lengths = {2, 1}, .mode = BagMode::kMean};
  ModelParts zero = Parts(), unk = Parts();
  zero.out_of_range = OutOfRangePolicy::kZero;
  unk.out_of_range = OutOfRangePolicy::kUnk;
  unk.unk_id = 2;

  EXPECT_THAT(Pool(lists, std::move(zero)), ElementsAre(0.5f, 0));
  EXPECT_THAT(Pool(lists, std::move(unk)), ElementsAre(2, 3));

  ModelParts counted = Parts();
  counted.out_of_range = OutOfRangePolicy::kZero;
  BagPlan plan(ElementType::kFloat32, false, kLimits);
  ASSERT_THAT(plan.Add(lists.For(MakeModel(std::move(counted)))), IsOk());
  EXPECT_EQ(plan.out_of_range_ids(0), 2);
}

TEST(BagPlan, EvenBagsNeedNoLengths) {
  const Ids ids = {0, 1, 2, 3};
  BagPlan plan(ElementType::kFloat32, false, kLimits);
  ASSERT_THAT(plan.Add({.model = MakeModel(Parts()),
                        .mode = BagMode::kMax,
                        .ids = ids,
                        .even = BagInput::Even{.bags = 2, .length = 2}}),
              IsOk());

  EXPECT_THAT(Vectors(plan), ElementsAre(2, 4));
}

// Bags that are pooled by several calls of the kernel, on whatever threads, are those of one.
TEST(BagPlan, PiecesDoNotChangeTheResult) {
  constexpr EmbedLimits kWide = {.max_batch_size = 4096, .max_sequence_length = 100, .max_response_bytes = 1 << 20};
  Lists lists = {.mode = BagMode::kMean};
  std::vector<double> expected;
  for (std::int64_t b = 0; b < 4096; ++b) {
    double sum = 0;
    const std::int64_t length = b % 9;
    for (std::int64_t i = 0; i < length; ++i) {
      lists.ids.push_back((b * 7 + i) % 4);
      lists.weights.push_back(static_cast<float>(1 + i));
      sum += static_cast<double>(((b * 7 + i) % 4 + 1) * (1 + i));
    }
    lists.row_lengths.push_back(length);
    expected.push_back(length == 0 ? 0 : sum / static_cast<double>(length * (length + 1) / 2));
  }
  BagPlan plan(ElementType::kFloat32, false, kWide);
  ASSERT_THAT(plan.Add(lists.For(MakeModel(Parts()))), IsOk());
  std::int64_t pieces = 0;
  const auto backwards = [&pieces](std::int64_t count, absl::FunctionRef<void(std::int64_t)> piece) {
    pieces = count;
    for (std::int64_t i = count; i-- > 0;) piece(i);
    return absl::OkStatus();
  };
  Floats out(4096, -1.0f);

  ASSERT_THAT(plan.Run(std::as_writable_bytes(std::span(out)), backwards), IsOk());

  EXPECT_GT(pieces, 1);
  for (std::size_t b = 0; b < out.size(); ++b) ASSERT_EQ(out[b], static_cast<float>(expected[b])) << b;
}

TEST(BagPlanErrors, LengthsThatDoNotFitTheIds) {
  EXPECT_THAT(Refusal({.ids = {0, 1}, .row_lengths = {3, -1}}),
              AllOf(StatusIs(kInvalid, HasSubstr("row_lengths sum to more than the 2 values of ids")),
                    ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(Refusal({.ids = {0, 1}, .row_lengths = {1, -1}}),
              AllOf(StatusIs(kInvalid, HasSubstr("row_lengths[1] = -1 is negative")), ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(
      Refusal({.ids = {0, 1}, .row_lengths = {1}}),
      AllOf(StatusIs(kInvalid, HasSubstr("row_lengths sum to 1, but ids has 2 values")), ReasonIs("INVALID_SHAPE")));
}

TEST(BagPlanErrors, Weights) {
  EXPECT_THAT(Refusal({.ids = {0, 1}, .row_lengths = {2}, .weights = {1}}),
              AllOf(StatusIs(kInvalid, HasSubstr("weights has 1 values; allowed are none or one an id = 2")),
                    ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(Refusal({.ids = {0}, .row_lengths = {1}, .weights = {1}, .mode = BagMode::kMax}),
              AllOf(StatusIs(kInvalid, HasSubstr("weights do not go with mode MAX")), ReasonIs("INVALID_OPTION")));
  for (const float odd : {std::nanf(""), std::numeric_limits<float>::infinity()}) {
    EXPECT_THAT(Refusal({.ids = {0, 1}, .row_lengths = {2}, .weights = {1, odd}}),
                AllOf(StatusIs(kInvalid, HasSubstr("weights[1] = ")), ReasonIs("INVALID_OPTION")));
  }
}

TEST(BagPlanErrors, IdOutOfRange) {
  for (const std::int64_t bad : {std::int64_t{4}, std::int64_t{-1}}) {
    EXPECT_THAT(
        Refusal({.ids = {0, bad}, .row_lengths = {2}}),
        AllOf(StatusIs(kInvalid, HasSubstr(" is outside [0, 4) of model \"tiny\"")), ReasonIs("ID_OUT_OF_RANGE")));
  }
}

TEST(BagPlanErrors, Limits) {
  EXPECT_THAT(
      Refusal({.row_lengths = {0, 0, 0, 0, 0}}),
      AllOf(StatusIs(kExhausted, HasSubstr("5 bags, which exceeds max_batch_size 4")), ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(Refusal({.ids = {0, 0, 0, 0, 0, 0}, .row_lengths = {6}}),
              AllOf(StatusIs(kExhausted, HasSubstr("row_lengths[0] = 6 exceeds max_sequence_length 5")),
                    ReasonIs("REQUEST_TOO_LARGE")));
  const Lists lists = {.row_lengths = {0, 0}};
  BagPlan plan(ElementType::kFloat32, false, kLimits);
  ASSERT_THAT(plan.Add(lists.For(MakeModel(Parts(4)))), IsOk());  // 32 bytes of 64
  EXPECT_THAT(plan.Add(lists.For(MakeModel(Parts(5)))),
              AllOf(StatusIs(kExhausted, HasSubstr("exceed max_response_bytes 64")), ReasonIs("RESPONSE_TOO_LARGE")));
}

TEST(BagPlanErrors, ConcatenatedGroupsOfDifferentNumbersOfBags) {
  const Lists first = {.row_lengths = {0, 0}}, second = {.row_lengths = {0}};
  BagPlan plan(ElementType::kFloat32, true, kLimits);
  ASSERT_THAT(plan.Add(first.For(MakeModel(Parts()))), IsOk());
  EXPECT_THAT(plan.Add(second.For(MakeModel(Parts()))),
              AllOf(StatusIs(kInvalid, HasSubstr("has 1 bags, but bags[0] has 2")), ReasonIs("INVALID_SHAPE")));
}

}  // namespace
}  // namespace embd::core
