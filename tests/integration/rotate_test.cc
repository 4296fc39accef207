// Rotary encodings through the wire: Rotate and RotaryTable of a running server, by the client library.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "embd/client/error.h"
#include "embd/client/fake_transport.h"
#include "embd/v1/rotary.pb.h"
#include "gmock/gmock.h"
#include "server/core/kernels/simd_target.h"
#include "tests/support/served_models.h"
#include "tests/support/status_matchers.h"

namespace embd {
namespace {

using client::DataType;
using client::RotaryOutput;
using client::RotaryPairing;
using client::RotaryParameters;
using client::RotaryScaling;
using client::RotateRequest;
using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;
using ::testing::SizeIs;

using Floats = std::vector<float>;
using Shape = std::vector<std::int64_t>;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

config::ServerConfig Config() {
  config::ServerConfig config;
  config.models = {testing::SmallModel("half", 10, 4, 0), testing::SmallModel("interleaved", 10, 4, 0),
                   testing::SmallModel("layers", 10, 8, 0), testing::SmallModel("learned", 10, 4, 8)};
  config.models[0].position = config::RotaryPositions{};
  config.models[1].position = config::RotaryPositions{.interleaved = true};
  config.models[2].position = config::RotaryPositions{
      .theta = 1e6,
      .scaling = config::RotaryScalingConfig{.type = "linear", .factor = 8.0},
      .layer_types = {
          {"sliding_attention", {.theta = 1e4, .scaling = config::RotaryScalingConfig{.type = "default"}}}}};
  config.limits.max_batch_size = 64;
  config.limits.max_sequence_length = 4096;
  config.limits.max_response_bytes = 8 << 20;
  return config;
}

class RotateCall : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { served_ = new testing::ServedModels(Config()); }
  static void TearDownTestSuite() {
    delete served_;
    served_ = nullptr;
  }

  static client::Client Client() { return served_->TcpClient(); }

  // Sends `x`; ends the test's expectations where it is refused.
  static Floats Turn(RotateRequest request, const Floats& x, const Shape& shape) {
    const auto result = Ask(std::move(request), x, shape);
    EXPECT_THAT(result, IsOk());
    if (!result.ok()) return {};
    EXPECT_EQ(result->info().shape, shape);
    const auto values = result->floats();
    EXPECT_THAT(values, IsOk());
    return values.ok() ? Floats(values->begin(), values->end()) : Floats();
  }

  static absl::StatusOr<client::RotatedVectors> Ask(RotateRequest request, const Floats& x, const Shape& shape) {
    request.vectors = std::as_bytes(std::span(x));
    request.shape = shape;
    return Client().Rotate(request);
  }

  static testing::ServedModels* served_;
};

testing::ServedModels* RotateCall::served_ = nullptr;

Floats Random(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(random() >> 40) / 8388608.0f - 1;
  return values;
}

auto Near(const Floats& expected, float tolerance = 1e-5f) { return Pointwise(FloatNear(tolerance), expected); }

const Floats kOneToFour = {1, 2, 3, 4};
const Floats kHalfAtOne = {-1.984111f, 1.959901f, 2.462378f, 4.019800f};
const Floats kInterleavedAtOne = {-1.142640f, 1.922076f, 2.959851f, 4.029800f};

// A report of converters that ignored which pairing a model has: it is shown, and it changes the result.
TEST_F(RotateCall, PairingOfTheModelIsShownAndChangesTheResult) {
  EXPECT_EQ(Client().DescribeModel({.model = "half"})->rotary->pairing, RotaryPairing::kHalf);
  EXPECT_EQ(Client().DescribeModel({.model = "interleaved"})->rotary->pairing, RotaryPairing::kInterleaved);
  EXPECT_THAT(Turn({.model = "half", .position_offsets = {1}}, kOneToFour, {1, 4}), Near(kHalfAtOne));
  EXPECT_THAT(Turn({.model = "interleaved", .position_offsets = {1}}, kOneToFour, {1, 4}), Near(kInterleavedAtOne));
}

TEST_F(RotateCall, UnknownPairingIsRefused) {
  const RotaryParameters parameters = {.pairing = static_cast<RotaryPairing>(9)};
  EXPECT_THAT(Ask({.parameters = parameters}, kOneToFour, {1, 4}),
              AllOf(StatusIs(kInvalid, HasSubstr("parameters.pairing = 9")), ReasonIs("UNKNOWN_ENUM_VALUE")));
}

TEST_F(RotateCall, HalfIsThePairingUnlessSaid) {
  EXPECT_THAT(Turn({.parameters = RotaryParameters{}, .position_offsets = {1}}, kOneToFour, {1, 4}), Near(kHalfAtOne));
}

TEST_F(RotateCall, SplitReturnsBothRotatedHalvesOneAfterTheOther) {
  EXPECT_THAT(Turn({.model = "interleaved", .output_layout = RotaryOutput::kSplit, .position_offsets = {1}}, kOneToFour,
                   {1, 4}),
              Near({-1.142640f, 2.959851f, 1.922076f, 4.029800f}));
}

TEST_F(RotateCall, GivenParametersGoBeforeTheModels) {
  const RotateRequest request = {
      .model = "half", .parameters = RotaryParameters{.pairing = RotaryPairing::kInterleaved}, .position_offsets = {1}};
  EXPECT_THAT(Turn(request, kOneToFour, {1, 4}), Near(kInterleavedAtOne));
  const RotateRequest slower = {
      .model = "half",
      .parameters = RotaryParameters{.scaling = RotaryScaling{.type = "linear", .factor = 2.0}},
      .position_offsets = {2}};
  EXPECT_THAT(Turn(slower, kOneToFour, {1, 4}), Near(kHalfAtOne));
}

TEST_F(RotateCall, ModelWithoutRotaryTakesGivenParameters) {
  EXPECT_THAT(Turn({.model = "learned", .parameters = RotaryParameters{}, .position_offsets = {1}}, kOneToFour, {1, 4}),
              Near(kHalfAtOne));
}

TEST_F(RotateCall, LayerTypePicksItsOwnParameters) {
  const Floats x = Random(8, 1);
  const RotaryParameters plain = {.theta = 1e4};
  const RotaryParameters scaled = {.theta = 1e6, .scaling = RotaryScaling{.type = "linear", .factor = 8.0}};

  EXPECT_EQ(Turn({.model = "layers", .layer_type = "sliding_attention", .position_offsets = {9}}, x, {1, 8}),
            Turn({.parameters = plain, .position_offsets = {9}}, x, {1, 8}));
  EXPECT_EQ(Turn({.model = "layers", .position_offsets = {9}}, x, {1, 8}),
            Turn({.parameters = scaled, .position_offsets = {9}}, x, {1, 8}));
  EXPECT_THAT(Ask({.model = "layers", .layer_type = "full"}, x, {1, 8}),
              AllOf(StatusIs(kInvalid, HasSubstr("has no layer_type \"full\"; it has \"sliding_attention\"")),
                    ReasonIs("INVALID_OPTION")));
}

TEST_F(RotateCall, DescriptionShowsScalingAndLayerTypes) {
  const auto model = Client().DescribeModel({.model = "layers"});
  ASSERT_THAT(model, IsOk());

  EXPECT_EQ(model->rotary->head_dim, 8);
  EXPECT_EQ(model->rotary->rotary_dim, 8);
  EXPECT_EQ(model->rotary->theta, 1e6);
  EXPECT_EQ(model->rotary->scaling->type, "linear");
  EXPECT_EQ(model->rotary->scaling->factor, 8.0);
  ASSERT_THAT(model->rotary_layer_types, SizeIs(1));
  EXPECT_EQ(model->rotary_layer_types[0].layer_type, "sliding_attention");
  EXPECT_EQ(model->rotary_layer_types[0].parameters.theta, 1e4);
}

// q at m and k at n: the score depends on m - n alone.
TEST_F(RotateCall, ScoresOfShiftedPositionsAreTheSame) {
  const Floats q = Random(64, 2), k = Random(64, 3);
  const auto at = [](const Floats& x, std::int64_t position) {
    return Turn({.parameters = RotaryParameters{}, .position_offsets = {position}}, x, {1, 64});
  };
  const auto score = [](const Floats& a, const Floats& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  EXPECT_NEAR(score(at(q, 5), at(k, 3)), score(at(q, 105), at(k, 103)), 1e-4);
}

TEST_F(RotateCall, InverseOfAResultIsWhatItWasMadeFrom) {
  const Floats x = Random(2 * 3 * 2 * 16, 4);
  const Shape shape = {2, 3, 2, 16};
  for (const RotaryPairing pairing : {RotaryPairing::kHalf, RotaryPairing::kInterleaved}) {
    const RotaryParameters yarn = {
        .rotary_dim = 12,
        .scaling = RotaryScaling{.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 16},
        .pairing = pairing};
    const Floats there = Turn({.parameters = yarn, .position_offsets = {100, 7}}, x, shape);
    EXPECT_THAT(Turn({.parameters = yarn, .position_offsets = {100, 7}, .inverse = true}, there, shape),
                Near(x, 1e-6f));
  }
}

// A row's length is its own: neither a neighbour in the batch nor an earlier call may change it.
TEST_F(RotateCall, LongerNeighbourChangesNoRow) {
  const Floats x = Random(2 * 4 * 8, 5);
  const Floats first_row(x.begin(), x.begin() + 4 * 8);
  const RotaryScaling dynamic = {.type = "dynamic", .factor = 2.0, .max_position_embeddings = 16};
  const RotaryScaling longrope = {.type = "longrope",
                                  .original_max_position_embeddings = 16,
                                  .max_position_embeddings = 64,
                                  .short_factor = {1, 1, 1, 1},
                                  .long_factor = {2, 4, 8, 16}};
  for (const RotaryScaling& scaling : {dynamic, longrope}) {
    SCOPED_TRACE(scaling.type);
    const RotaryParameters parameters = {.scaling = scaling};
    const Floats both = Turn({.parameters = parameters, .position_offsets = {3, 5000}}, x, {2, 4, 8});
    const Floats alone = Turn({.parameters = parameters, .position_offsets = {3}}, first_row, {1, 4, 8});
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), both.begin()));
    const RotaryParameters unscaled = {};
    const Floats plain = Turn({.parameters = unscaled, .position_offsets = {3, 5000}}, x, {2, 4, 8});
    EXPECT_NE(Floats(both.begin() + 32, both.end()), Floats(plain.begin() + 32, plain.end()));
  }
}

TEST_F(RotateCall, ScalingLengthOfTheRequestGoesBeforeTheRows) {
  const Floats x = Random(8, 6);
  const RotaryParameters dynamic = {.scaling =
                                        RotaryScaling{.type = "dynamic", .factor = 2.0, .max_position_embeddings = 16}};
  const Floats at_its_length = Turn({.parameters = dynamic, .position_offsets = {9}}, x, {1, 8});

  EXPECT_NE(Turn({.parameters = dynamic, .position_offsets = {9}, .scaling_length = 64}, x, {1, 8}), at_its_length);
  EXPECT_EQ(Turn({.parameters = dynamic, .position_offsets = {9}, .scaling_length = 16}, x, {1, 8}), at_its_length);
}

TEST_F(RotateCall, SequenceAxisOfHuggingFaceGivesTheSameVectors) {
  constexpr std::size_t kBatch = 2, kHeads = 3, kTokens = 5, kDim = 6;
  const Floats x = Random(kBatch * kTokens * kHeads * kDim, 7);  // (B, T, H, d)
  const auto transpose = [](const Floats& from, std::size_t outer, std::size_t inner) {
    Floats to(from.size());
    for (std::size_t b = 0; b < kBatch; ++b) {
      for (std::size_t i = 0; i < outer; ++i) {
        for (std::size_t j = 0; j < inner; ++j) {
          std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(((b * outer + i) * inner + j) * kDim), kDim,
                      to.begin() + static_cast<std::ptrdiff_t>(((b * inner + j) * outer + i) * kDim));
        }
      }
    }
    return to;
  };
  const RotateRequest request = {.parameters = RotaryParameters{}, .position_offsets = {3, 70}};
  RotateRequest heads_first = request;
  heads_first.sequence_axis = 2;
  RotateRequest from_behind = request;
  from_behind.sequence_axis = -2;

  const Floats expected = Turn(request, x, {2, 5, 3, 6});
  const Floats transposed = transpose(x, kTokens, kHeads);
  EXPECT_EQ(transpose(Turn(heads_first, transposed, {2, 3, 5, 6}), kHeads, kTokens), expected);
  EXPECT_EQ(transpose(Turn(from_behind, transposed, {2, 3, 5, 6}), kHeads, kTokens), expected);
}

TEST_F(RotateCall, PositionIdsNameColumnsOrCells) {
  const Floats x = Random(2 * 3 * 4, 8);
  const auto one = [&](std::size_t vector, std::int64_t position) {
    const Floats single(x.begin() + static_cast<std::ptrdiff_t>(4 * vector),
                        x.begin() + static_cast<std::ptrdiff_t>(4 * vector + 4));
    return Turn({.model = "half", .position_offsets = {position}}, single, {1, 4});
  };
  const auto part = [](const Floats& all, std::size_t vector) {
    return Floats(all.begin() + static_cast<std::ptrdiff_t>(4 * vector),
                  all.begin() + static_cast<std::ptrdiff_t>(4 * vector + 4));
  };
  const Floats columns = Turn({.model = "half", .position_ids = {7, 0, 9}}, x, {2, 3, 4});
  EXPECT_EQ(part(columns, 2), one(2, 9));
  EXPECT_EQ(part(columns, 3), one(3, 7));
  const Floats cells = Turn({.model = "half", .position_ids = {1, 2, 3, 16777215, 0, 6}}, x, {2, 3, 4});
  EXPECT_EQ(part(cells, 3), one(3, 16777215));
  EXPECT_EQ(part(cells, 5), one(5, 6));
}

TEST_F(RotateCall, LargeBatchEqualsItsVectorsOneByOne) {
  constexpr std::int64_t kTokens = 1500, kDim = 64;
  const Floats x = Random(2 * kTokens * 2 * kDim, 9);
  const RotateRequest request = {.parameters = RotaryParameters{.rotary_dim = 48}, .position_offsets = {0, 4000}};
  const Floats all = Turn(request, x, {2, kTokens, 2, kDim});
  ASSERT_EQ(all.size(), x.size());
  for (const std::int64_t cell : {0, 1023, 1499, 1500, 2999}) {
    const auto begin = static_cast<std::ptrdiff_t>(cell * 2 * kDim);
    const Floats vectors(x.begin() + begin, x.begin() + begin + 2 * kDim);
    RotateRequest one = request;
    one.position_offsets = {cell < kTokens ? cell : 4000 + cell - kTokens};
    EXPECT_EQ(Turn(one, vectors, {1, 1, 2, kDim}), Floats(all.begin() + begin, all.begin() + begin + 2 * kDim)) << cell;
  }
}

TEST_F(RotateCall, HalfPrecisionIsRoundedOnce) {
  const Floats x = Random(2 * 70, 10);
  const Floats exact = Turn({.parameters = RotaryParameters{}}, x, {2, 70});
  RotateRequest request = {.parameters = RotaryParameters{}, .output_type = DataType::kBfloat16};
  const auto narrow = Ask(request, x, {2, 70});
  ASSERT_THAT(narrow, IsOk());
  ASSERT_EQ(narrow->bytes().size(), 2 * x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &exact[i], sizeof bits);
    std::uint16_t found = 0;
    std::memcpy(&found, narrow->bytes().data() + 2 * i, sizeof found);
    EXPECT_EQ(found, (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << i;
  }
}

TEST_F(RotateCall, SameBitsOnEverySimdTarget) {
  const Floats x = Random(3 * 2 * 70, 11);
  const RotateRequest request = {.parameters = RotaryParameters{.pairing = RotaryPairing::kInterleaved}};
  const Floats expected = Turn(request, x, {3, 2, 70});
  for (const std::string& target : core::SupportedSimdTargets()) {
    ASSERT_THAT(core::CapSimdTarget(target), IsOk());
    EXPECT_EQ(Turn(request, x, {3, 2, 70}), expected) << target;
  }
  ASSERT_THAT(core::CapSimdTarget("avx3"), IsOk());
}

// The client's fake computes on its own: both agree on every kind of scaling, in values and in refusals.
TEST_F(RotateCall, FakeTransportGivesTheSameResults) {
  const client::Client fake(std::make_shared<client::FakeTransport>());
  const std::vector<RotaryScaling> scalings = {
      {},
      {.type = "linear", .factor = 4.0},
      {.type = "ntk", .factor = 4.0},
      {.type = "dynamic", .factor = 2.0, .max_position_embeddings = 16},
      {.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 64},
      {.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 64, .mscale = 1.0, .mscale_all_dim = 0.5},
      {.type = "longrope",
       .factor = 4.0,
       .original_max_position_embeddings = 16,
       .short_factor = {1, 1, 2, 2},
       .long_factor = {2, 4, 8, 16}},
      {.type = "llama3",
       .factor = 8.0,
       .original_max_position_embeddings = 64,
       .low_freq_factor = 1.0,
       .high_freq_factor = 4.0},
      {.type = "proportional"},
      {.type = "yarn"},
      {.type = "nonsense"},
      {.type = "llama3", .factor = 1.0}};
  const Floats x = Random(2 * 3 * 10, 12);
  for (const RotaryScaling& scaling : scalings) {
    for (const RotaryPairing pairing : {RotaryPairing::kHalf, RotaryPairing::kInterleaved}) {
      SCOPED_TRACE(scaling.type);
      const RotateRequest request = {
          .vectors = std::as_bytes(std::span(x)),
          .shape = {2, 3, 10},
          .parameters = RotaryParameters{.rotary_dim = 8, .scaling = scaling, .pairing = pairing},
          .position_offsets = {4, 90}};
      const auto expected = Client().Rotate(request);
      const auto found = fake.Rotate(request);
      ASSERT_EQ(found.status().code(), expected.status().code()) << found.status() << expected.status();
      EXPECT_EQ(client::ErrorReason(found.status()), client::ErrorReason(expected.status()));
      if (!expected.ok()) continue;
      EXPECT_NEAR(found->info().attention_factor, expected->info().attention_factor, 1e-12);
      EXPECT_THAT(*found->floats(), Pointwise(FloatNear(1e-6f), *expected->floats()));
    }
  }
}

TEST_F(RotateCall, TypesOfTheRequestAndItsEnumsAreChecked) {
  const auto unknown = [](RotateRequest request) { return Ask(std::move(request), kOneToFour, {1, 4}); };
  EXPECT_THAT(unknown({.model = "half", .output_layout = static_cast<RotaryOutput>(8)}),
              AllOf(StatusIs(kInvalid, HasSubstr("output_layout = 8")), ReasonIs("UNKNOWN_ENUM_VALUE")));
  EXPECT_THAT(unknown({.model = "half", .output_type = static_cast<DataType>(77)}), ReasonIs("UNKNOWN_ENUM_VALUE"));
  EXPECT_THAT(unknown({.model = "half", .vectors_type = static_cast<DataType>(77)}), ReasonIs("UNKNOWN_ENUM_VALUE"));
  EXPECT_THAT(unknown({.model = "half", .output_type = DataType::kInt8}), ReasonIs("INVALID_OPTION"));
  EXPECT_THAT(unknown({.model = "half", .vectors_type = DataType::kInt32}), ReasonIs("INVALID_OPTION"));
}

TEST_F(RotateCall, OptionsThatDoNotGoTogetherAreRefused) {
  EXPECT_THAT(Ask({.model = "half", .output_layout = RotaryOutput::kSplit}, kOneToFour, {1, 4}),
              StatusIs(kInvalid, HasSubstr("SPLIT goes with pairing INTERLEAVED only")));
  EXPECT_THAT(Ask({.model = "interleaved", .output_layout = RotaryOutput::kSplit, .inverse = true}, kOneToFour, {1, 4}),
              StatusIs(kInvalid, HasSubstr("inverse and output_layout SPLIT exclude each other")));
  EXPECT_THAT(Ask({.model = "half", .position_offsets = {1}, .position_ids = {1}}, kOneToFour, {1, 4}),
              StatusIs(kInvalid, HasSubstr("exclude each other")));
  EXPECT_THAT(Ask({}, kOneToFour, {1, 4}),
              AllOf(StatusIs(kInvalid, HasSubstr("name a model")), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(Ask({.parameters = RotaryParameters{}, .layer_type = "x"}, kOneToFour, {1, 4}),
              StatusIs(kInvalid, HasSubstr("need a model")));
  EXPECT_THAT(Ask({.model = "half", .scaling_length = 0}, kOneToFour, {1, 4}),
              StatusIs(kInvalid, HasSubstr("scaling_length must be from 1 to 16777216, got 0")));
}

TEST_F(RotateCall, ModelWithoutRotaryIsAFailedPrecondition) {
  EXPECT_THAT(Ask({.model = "learned"}, kOneToFour, {1, 4}),
              AllOf(StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("its position encoding is learned")),
                    ReasonIs("NO_ROTARY")));
  EXPECT_THAT(Ask({.model = "x"}, kOneToFour, {1, 4}), ReasonIs("MODEL_NOT_FOUND"));
}

TEST_F(RotateCall, ShapesThatDoNotFitAreRefused) {
  const auto refuses = [](const Shape& shape, const std::string& text, std::optional<std::int64_t> axis = {}) {
    EXPECT_THAT(Ask({.model = "half", .sequence_axis = axis}, kOneToFour, shape),
                AllOf(StatusIs(kInvalid, HasSubstr(text)), ReasonIs("INVALID_SHAPE")));
  };
  refuses({4}, "must have two axes or more");
  refuses({-1, 4}, "none of them negative");
  refuses({2, 2}, "must be head_dim = 4");
  refuses({2, 4}, "vectors.data has 16 bytes, but (2, 4) float32 needs 32");
  refuses({std::int64_t{1} << 40, std::int64_t{1} << 40, 4}, "needs more than 2^63 - 1");
  refuses({1, 1, 4}, "sequence_axis 2 is no axis before the last", 2);
  refuses({1, 1, 4}, "sequence_axis -1 is no axis before the last", -1);
  refuses({1, 1, 4}, "sequence_axis -4 is no axis before the last", -4);
  EXPECT_THAT(Ask({.model = "half"}, {}, {1, 0, 2, 4}),
              StatusIs(kInvalid, HasSubstr("sequence_length must be >= 1, got 0")));
}

TEST_F(RotateCall, EmptyBatchGivesAnEmptyResult) {
  EXPECT_EQ(Turn({.model = "half"}, {}, {0, 3, 2, 4}), Floats());
  EXPECT_EQ(Turn({.model = "half"}, {}, {2, 3, 0, 4}), Floats());
}

TEST_F(RotateCall, PositionsOutsideTheirRangeAreNamed) {
  const Floats x = Random(2 * 2 * 4, 13);
  const auto refuses = [&](RotateRequest request, const std::string& text) {
    request.model = "half";
    EXPECT_THAT(Ask(std::move(request), x, {2, 2, 4}),
                AllOf(StatusIs(kInvalid, HasSubstr(text)), ReasonIs("POSITION_OUT_OF_RANGE")));
  };
  refuses({.position_offsets = {0, -1}}, "position_offsets[1] = -1");
  refuses({.position_offsets = {16777215}}, "position_offsets[0] = 16777215 with sequence_length 2");
  refuses({.position_ids = {0, 16777216}}, "position_ids[1] = 16777216 is outside [0, 16777215]");
  refuses({.position_ids = {0, 0, 0, -9}}, "position_ids[1][1] = -9");
  EXPECT_THAT(Ask({.model = "half", .position_ids = {1, 2, 3}}, x, {2, 2, 4}), ReasonIs("INVALID_SHAPE"));
  EXPECT_THAT(Ask({.model = "half", .position_offsets = {1, 2, 3}}, x, {2, 2, 4}), ReasonIs("INVALID_SHAPE"));
}

TEST_F(RotateCall, LimitsBite) {
  EXPECT_THAT(
      Ask({.model = "half"}, Floats(65 * 4), {65, 1, 4}),
      AllOf(StatusIs(kExhausted, HasSubstr("batch_size 65 exceeds max_batch_size 64")), ReasonIs("REQUEST_TOO_LARGE")));
  EXPECT_THAT(
      Ask({.model = "half"}, Floats(4097 * 4), {1, 4097, 4}),
      AllOf(StatusIs(kExhausted, HasSubstr("exceeds max_sequence_length 4096")), ReasonIs("REQUEST_TOO_LARGE")));
  const std::int64_t heads = (8 << 20) / 16 + 1;
  EXPECT_THAT(
      Ask({.model = "half"}, Floats(static_cast<std::size_t>(heads * 4)), {1, 1, heads, 4}),
      AllOf(StatusIs(kExhausted, HasSubstr("exceeds max_response_bytes 8388608")), ReasonIs("RESPONSE_TOO_LARGE")));
}

TEST_F(RotateCall, CancelledCallEndsAsCancelled) {
  std::stop_source source;
  source.request_stop();
  RotateRequest request = {.model = "half", .vectors = std::as_bytes(std::span(kOneToFour)), .shape = {1, 4}};
  EXPECT_THAT(Client().Rotate(request, {.cancel = source.get_token()}),
              StatusIs(absl::StatusCode::kCancelled, ::testing::_));
}

TEST_F(RotateCall, TableTurnsAsRotateDoes) {
  const RotaryParameters yarn = {
      .head_dim = 8, .scaling = RotaryScaling{.type = "yarn", .factor = 4.0, .original_max_position_embeddings = 16}};
  const auto table = Client().RotaryTable({.parameters = yarn, .first_position = 5, .length = 3});
  ASSERT_THAT(table, IsOk());
  EXPECT_EQ(table->rows(), 3);
  EXPECT_EQ(table->pairs(), 4);
  EXPECT_NEAR(table->attention_factor(), 0.1 * std::log(4.0) + 1, 1e-15);
  const Floats x = Random(3 * 8, 14);
  const Floats turned = Turn({.parameters = yarn, .position_offsets = {5}}, x, {1, 3, 8});
  for (std::size_t t = 0; t < 3; ++t) {
    for (std::size_t i = 0; i < 4; ++i) {
      const float cos = table->cos()[t * 4 + i], sin = table->sin()[t * 4 + i];
      const float a = x[t * 8 + i], b = x[t * 8 + 4 + i];
      const float by_cos = a * cos, by_sin = b * sin;
      EXPECT_EQ(turned[t * 8 + i], by_cos - by_sin);
    }
  }
}

TEST_F(RotateCall, TableOfProportionalScalingHasAColumnAPairOfTheHead) {
  const auto table = Client().RotaryTable(
      {.parameters =
           RotaryParameters{
               .head_dim = 8, .rotary_dim = 2, .theta = 1e6, .scaling = RotaryScaling{.type = "proportional"}},
       .first_position = 1,
       .length = 1});
  ASSERT_THAT(table, IsOk());
  EXPECT_THAT(std::vector<float>(table->cos().begin(), table->cos().end()),
              ElementsAre(FloatNear(0.5403023f, 1e-7f), 1, 1, 1));
}

TEST_F(RotateCall, TableRefusesWhatDoesNotFit) {
  const client::Client client = Client();
  EXPECT_THAT(client.RotaryTable({.model = "half"}),
              AllOf(StatusIs(kInvalid, HasSubstr("length must be >= 1, got 0")), ReasonIs("INVALID_SHAPE")));
  EXPECT_THAT(client.RotaryTable({.model = "half", .first_position = -1, .length = 1}),
              ReasonIs("POSITION_OUT_OF_RANGE"));
  EXPECT_THAT(client.RotaryTable({.model = "half", .first_position = 16777215, .length = 2}),
              ReasonIs("POSITION_OUT_OF_RANGE"));
  EXPECT_THAT(client.RotaryTable({.model = "half", .length = 4097}), ReasonIs("REQUEST_TOO_LARGE"));
  EXPECT_THAT(client.RotaryTable({.parameters = RotaryParameters{.head_dim = 4096}, .length = 4096}),
              ReasonIs("RESPONSE_TOO_LARGE"));
  EXPECT_THAT(client.RotaryTable({.parameters = RotaryParameters{}, .length = 1}),
              StatusIs(kInvalid, HasSubstr("head_dim must be from 2 to 1048576, got 0")));
  EXPECT_THAT(client.RotaryTable({.model = "learned", .length = 1}), ReasonIs("NO_ROTARY"));
  EXPECT_THAT(client.RotaryTable({.model = "half", .length = 1, .scaling_length = 0}), ReasonIs("INVALID_OPTION"));
}

}  // namespace
}  // namespace embd
