#include "server/observability/log_line.h"

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "gmock/gmock.h"

namespace embd::observability {
namespace {

using ::testing::EndsWith;

const absl::Time kNoon =
    absl::FromCivil(absl::CivilSecond(2026, 1, 31, 12, 0, 0), absl::UTCTimeZone()) + absl::Milliseconds(7);

TEST(LogLine, JsonHasTimeLevelMessageAndFields) {
  EXPECT_EQ(FormatLogLine(LogFormat::kJson, kNoon, "info", "request", {{"rpc", "Embed"}, {"us", std::int64_t{12}}}),
            R"({"time":"2026-01-31T12:00:00.007Z","level":"info","message":"request","rpc":"Embed","us":12})");
}

TEST(LogLine, TextHasFieldsBehindTheMessage) {
  EXPECT_THAT(FormatLogLine(LogFormat::kText, kNoon, "info", "request", {{"rpc", "Embed"}, {"us", std::int64_t{12}}}),
              EndsWith(" info request rpc=Embed us=12"));
}

TEST(JsonString, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(JsonString("a\"b\\c\n\r\t"), R"("a\"b\\c\n\r\t")");
  EXPECT_EQ(JsonString(absl::string_view("\0\x01\x1b\x7f", 4)), R"("\u0000\u0001\u001b\u007f")");
}

TEST(JsonString, ValidUtf8StandsAsItIs) {
  for (const char* const text : {"\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                                 "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(JsonString(text), "\"" + std::string(text) + "\"");
  }
}

// The table 3-7 of the Unicode standard, each of its bounds from the outside.
TEST(JsonString, BytesThatAreNoUtf8AreReplacedOneByOne) {
  const std::string bad = "\xEF\xBF\xBD";
  const auto replaced = [&](int count) {
    std::string text = "\"";
    for (int i = 0; i < count; ++i) text += bad;
    return text + "\"";
  };
  EXPECT_EQ(JsonString("\x80"), replaced(1));
  EXPECT_EQ(JsonString("\xc1\xbf"), replaced(2));
  EXPECT_EQ(JsonString("\xe0\x9f\xbf"), replaced(3));
  EXPECT_EQ(JsonString("\xed\xa0\x80"), replaced(3));
  EXPECT_EQ(JsonString("\xf0\x8f\xbf\xbf"), replaced(4));
  EXPECT_EQ(JsonString("\xf4\x90\x80\x80"), replaced(4));
  EXPECT_EQ(JsonString("\xf5\x80\x80\x80"), replaced(4));
  EXPECT_EQ(JsonString("\xe2\x82"), replaced(2));
  EXPECT_EQ(JsonString("\xc3("), "\"" + bad + "(\"");
}

}  // namespace
}  // namespace embd::observability
