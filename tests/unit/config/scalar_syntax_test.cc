#include "server/config/scalar_syntax.h"

#include <limits>

#include "gmock/gmock.h"

namespace embd::config {
namespace {

using ::testing::DoubleEq;
using ::testing::Eq;
using ::testing::Optional;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(ParseInteger, TakesDecimalDigitsWithASign) {
  EXPECT_THAT(ParseInteger("0"), Optional(0));
  EXPECT_THAT(ParseInteger("+12"), Optional(12));
  EXPECT_THAT(ParseInteger("-12"), Optional(-12));
  EXPECT_THAT(ParseInteger("9223372036854775807"), Optional(kMax));
}

TEST(ParseInteger, RefusesEverythingElse) {
  for (const char* text :
       {"", "-", "+", "--1", "1.0", "1e3", "0x10", "1_000", " 1", "1 ", "x", "9223372036854775808"}) {
    EXPECT_THAT(ParseInteger(text), Eq(std::nullopt)) << text;
  }
}

TEST(ParseUnsigned, TakesAll64Bits) {
  EXPECT_THAT(ParseUnsigned("18446744073709551615"), Optional(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_THAT(ParseUnsigned("18446744073709551616"), Eq(std::nullopt));
}

TEST(ParseUnsigned, RefusesASign) {
  EXPECT_THAT(ParseUnsigned("-1"), Eq(std::nullopt));
  EXPECT_THAT(ParseUnsigned("+1"), Eq(std::nullopt));
}

TEST(ParseNumber, TakesDecimalNumbers) {
  EXPECT_THAT(ParseNumber("0.02"), Optional(DoubleEq(0.02)));
  EXPECT_THAT(ParseNumber("-1e-5"), Optional(DoubleEq(-1e-5)));
  EXPECT_THAT(ParseNumber("+3"), Optional(DoubleEq(3.0)));
  EXPECT_THAT(ParseNumber(".5"), Optional(DoubleEq(0.5)));
}

TEST(ParseNumber, RefusesWhatIsNotFinite) {
  for (const char* text : {"nan", "NaN", "inf", "-inf", "infinity", ".inf", "1e400", "-1e400"}) {
    EXPECT_THAT(ParseNumber(text), Eq(std::nullopt)) << text;
  }
}

TEST(ParseNumber, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "x", "1x", " 1", "1 ", "+-1", "0x1p3", "1,5", "."}) {
    EXPECT_THAT(ParseNumber(text), Eq(std::nullopt)) << text;
  }
}

TEST(ParseByteSize, TakesBytesAndUnits) {
  EXPECT_THAT(ParseByteSize("0"), Optional(0));
  EXPECT_THAT(ParseByteSize("1000"), Optional(1000));
  EXPECT_THAT(ParseByteSize("3KiB"), Optional(3 * 1024));
  EXPECT_THAT(ParseByteSize("64MiB"), Optional(64 * 1024 * 1024));
  EXPECT_THAT(ParseByteSize("1GiB"), Optional(1024 * 1024 * 1024));
  EXPECT_THAT(ParseByteSize("3KB"), Optional(3'000));
  EXPECT_THAT(ParseByteSize("3MB"), Optional(3'000'000));
  EXPECT_THAT(ParseByteSize("2GB"), Optional(2'000'000'000));
  EXPECT_THAT(ParseByteSize("64 MiB"), Optional(64 * 1024 * 1024));
}

TEST(ParseByteSize, RefusesWhatDoesNotFitIn63Bits) {
  EXPECT_THAT(ParseByteSize("8589934591GiB"), Optional(std::int64_t{8589934591} << 30));
  EXPECT_THAT(ParseByteSize("8589934592GiB"), Eq(std::nullopt));
  EXPECT_THAT(ParseByteSize("9223372036854775807GB"), Eq(std::nullopt));
  EXPECT_THAT(ParseByteSize("9223372036854775808"), Eq(std::nullopt));
}

TEST(ParseByteSize, RefusesEverythingElse) {
  for (const char* text :
       {"", "MiB", " MiB", "-1", "-1MiB", "1.5GiB", "64mib", "64M", "64TiB", "1MiBKiB", "1  KiB", "1 "}) {
    EXPECT_THAT(ParseByteSize(text), Eq(std::nullopt)) << text;
  }
}

TEST(ParseSeconds, TakesSecondsAndUnits) {
  EXPECT_THAT(ParseSeconds("30"), Optional(DoubleEq(30.0)));
  EXPECT_THAT(ParseSeconds("0.5"), Optional(DoubleEq(0.5)));
  EXPECT_THAT(ParseSeconds("500ms"), Optional(DoubleEq(0.5)));
  EXPECT_THAT(ParseSeconds("30s"), Optional(DoubleEq(30.0)));
  EXPECT_THAT(ParseSeconds("2m"), Optional(DoubleEq(120.0)));
  EXPECT_THAT(ParseSeconds("1.5h"), Optional(DoubleEq(5400.0)));
}

TEST(ParseSeconds, RefusesEverythingElse) {
  for (const char* text : {"", "s", "ms", "30 s", "30sec", "1m30s", "infs", "nan", "d"}) {
    EXPECT_THAT(ParseSeconds(text), Eq(std::nullopt)) << text;
  }
}

}  // namespace
}  // namespace embd::config
