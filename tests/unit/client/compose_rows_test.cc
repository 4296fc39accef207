#include "client/src/compose_rows.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "client/fake/narrow.h"
#include "client/src/float_bits.h"
#include "gmock/gmock.h"

namespace embd::client {
namespace {

// By the definition of the type, in double.
double HalfValue(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  const double magnitude = exponent == 31  ? std::numeric_limits<double>::infinity()
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

TEST(FloatBits, EveryHalfHasItsValue) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = HalfToFloat(half);
    if ((bits & 0x7FFF) > 0x7C00) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(double{value}, HalfValue(half)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    }
  }
}

TEST(FloatBits, EveryHalfComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bool is_nan = (bits & 0x7FFF) > 0x7C00;
    ASSERT_EQ(FloatToHalf(HalfToFloat(static_cast<std::uint16_t>(bits))), bits | (is_nan ? 0x200 : 0)) << bits;
  }
}

TEST(FloatBits, EveryBfloat16IsTheUpperHalfOfItsFloatAndNaNsBecomeQuiet) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bool is_nan = (bits & 0x7FFF) > 0x7F80;
    const float value = Bfloat16ToFloat(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16 | (is_nan ? 0x400000 : 0)) << bits;
  }
}

// Against the fake's conversions, which count units of the last place. Floats of all exponents, and the neighbours of
// all halves and of the middles between them.
TEST(FloatBits, RoundsToTheNearestEven) {
  std::mt19937 random(11);
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float value = HalfToFloat(static_cast<std::uint16_t>(bits));
    const float middle = (value + HalfToFloat(static_cast<std::uint16_t>(bits + 1))) / 2;
    for (const float x : {value, middle}) {
      values.insert(values.end(), {x, std::nextafter(x, 0.0f), std::nextafter(x, 1e30f), -x});
    }
  }
  for (int i = 0; i < 200'000; ++i) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(value)) values.push_back(value);
  }

  for (const float value : values) {
    std::uint16_t half = 0, bfloat = 0;
    fake::Narrow(std::span(&value, 1), DataType::kFloat16, reinterpret_cast<std::byte*>(&half));
    fake::Narrow(std::span(&value, 1), DataType::kBfloat16, reinterpret_cast<std::byte*>(&bfloat));
    ASSERT_EQ(FloatToHalf(value), half) << value;
    ASSERT_EQ(FloatToBfloat16(value), bfloat) << value;
  }
}

TEST(FloatBits, NanStaysNan) {
  for (const std::uint32_t bits : {0x7F800001u, 0x7FC00000u, 0xFFFFFFFFu, 0x7F801000u}) {
    const auto nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(nan)))) << bits;
    EXPECT_TRUE(std::isnan(Bfloat16ToFloat(FloatToBfloat16(nan)))) << bits;
  }
}

TEST(RowComposer, AddsInFloatAndRoundsOnce) {
  for (const std::size_t dim : {1u, 2u, 3u, 7u, 8u, 15u, 16u, 17u, 63u, 64u, 65u, 70u, 100u, 768u}) {
    for (const DataType row_type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
      for (const DataType output_type : {DataType::kFloat32, DataType::kFloat16, DataType::kBfloat16}) {
        SCOPED_TRACE(::testing::Message() << dim << DataTypeName(row_type) << DataTypeName(output_type));
        std::mt19937 random(static_cast<unsigned>(dim));
        std::normal_distribution<float> normal;
        std::vector<float> token(dim), position(dim);
        for (float& value : token) value = normal(random);
        for (float& value : position) value = normal(random);
        std::vector<std::byte> row(dim * 4);
        fake::Narrow(token, row_type, row.data());
        std::vector<float> sum(dim);
        Widen(row.data(), row_type, dim, sum.data());
        for (std::size_t d = 0; d < dim; ++d) sum[d] += position[d];
        const std::size_t bytes = dim * static_cast<std::size_t>(DataTypeSize(output_type));
        std::vector<std::byte> expected(bytes);
        fake::Narrow(sum, output_type, expected.data());

        // One byte off, and with a byte behind that must stay.
        std::vector<std::byte> out(bytes + 2, std::byte{0xCD});
        RowComposer(dim, row_type, output_type).Compose(row.data(), position.data(), out.data() + 1);

        EXPECT_EQ(std::memcmp(out.data() + 1, expected.data(), bytes), 0);
        EXPECT_EQ(out.front(), std::byte{0xCD});
        EXPECT_EQ(out.back(), std::byte{0xCD});
      }
    }
  }
}

TEST(RowComposer, CopiesBitsWhereNothingIsAdded) {
  const std::uint32_t row[] = {0x7F800001, 0x80000000, 0x00000001};
  std::uint32_t out[3] = {};

  RowComposer(3, DataType::kFloat32, DataType::kFloat32)
      .Compose(reinterpret_cast<const std::byte*>(row), nullptr, reinterpret_cast<std::byte*>(out));

  EXPECT_THAT(out, ::testing::ElementsAreArray(row));
}

}  // namespace
}  // namespace embd::client
