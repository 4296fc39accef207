#include "server/core/table/scan_nan.h"

#include <cstdint>
#include <span>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/table_builder.h"

namespace embd::core {
namespace {

using ::embd::testing::TableOf;

template <typename Bits>
struct Case {
  ElementType type;
  std::vector<Bits> nans;
  std::vector<Bits> others;  // that are next to a NaN in the order of bits
};

// Each of the values alone among zeros, at places around the ends of what is scanned at once.
template <typename Bits>
void ExpectScanned(const Case<Bits>& values) {
  constexpr std::int64_t kRows = 3;
  constexpr std::int64_t kDim = 16'385;
  for (const std::size_t place : {0u, 1u, 16'383u, 16'384u, 16'385u, 32'769u, 49'154u}) {
    SCOPED_TRACE(place);
    for (const bool is_nan : {true, false}) {
      for (const Bits bits : is_nan ? values.nans : values.others) {
        std::vector<Bits> elements(kRows * kDim, 0);
        elements[place] = bits;

        const NanScan scan = ScanNan(TableOf(kRows, kDim, values.type, elements));

        EXPECT_EQ(scan.count, is_nan ? 1 : 0);
        EXPECT_EQ(scan.row, is_nan ? static_cast<std::int64_t>(place) / kDim : 0);
        EXPECT_EQ(scan.column, is_nan ? static_cast<std::int64_t>(place) % kDim : 0);
      }
    }
  }
}

TEST(ScanNan, KnowsTheNansOfFloat16) {
  ExpectScanned<std::uint16_t>(
      {ElementType::kFloat16, {0x7C01, 0x7E00, 0xFC01, 0xFFFF}, {0x7C00, 0xFC00, 0x7BFF, 0x8000}});
}

TEST(ScanNan, KnowsTheNansOfBFloat16) {
  ExpectScanned<std::uint16_t>(
      {ElementType::kBFloat16, {0x7F81, 0x7FC0, 0xFF81, 0xFFFF}, {0x7F80, 0xFF80, 0x7F7F, 0x8000}});
}

TEST(ScanNan, KnowsTheNansOfFloat32) {
  ExpectScanned<std::uint32_t>({ElementType::kFloat32,
                                {0x7F800001, 0x7FC00000, 0xFF800001, 0xFFFFFFFF},
                                {0x7F800000, 0xFF800000, 0x7F7FFFFF, 0x80000000}});
}

TEST(ScanNan, KnowsTheNansOfFloat64) {
  ExpectScanned<std::uint64_t>({ElementType::kFloat64,
                                {0x7FF0000000000001, 0x7FF8000000000000, 0xFFF0000000000001, 0xFFFFFFFFFFFFFFFF},
                                {0x7FF0000000000000, 0xFFF0000000000000, 0x7FEFFFFFFFFFFFFF, 0x8000000000000000}});
}

TEST(NanCounter, NumbersPiecesAsOneTable) {
  const std::vector<std::uint16_t> zeros(7, 0);
  const std::vector<std::uint16_t> nans = {0, 0x7FC0, 0x7FC0};
  NanCounter counter(ElementType::kBFloat16, 4);

  counter.Add(std::as_bytes(std::span(zeros)));
  counter.Add({});
  counter.Add(std::as_bytes(std::span(nans)));

  EXPECT_EQ(counter.result().count, 2);
  EXPECT_EQ(counter.result().row, 2);
  EXPECT_EQ(counter.result().column, 0);
}

TEST(ScanNan, CountsATableOfNothingElse) {
  const NanScan scan =
      ScanNan(TableOf(2, 100'000, ElementType::kBFloat16, std::vector<std::uint16_t>(200'000, 0xFFC0)));

  EXPECT_EQ(scan.count, 200'000);
  EXPECT_EQ(scan.row, 0);
  EXPECT_EQ(scan.column, 0);
}

}  // namespace
}  // namespace embd::core
