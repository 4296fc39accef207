#include "server/config/text_fault.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/config/config_error.h"

namespace embd::config {
namespace {

std::string MessageFor(absl::string_view text) {
  const auto fault = FindTextFault(text);
  return fault.has_value() ? fault->message : "";
}

TEST(TextFault, PlainTextAndAllLengthsOfCharactersHaveNone) {
  EXPECT_EQ(MessageFor(""), "");
  EXPECT_EQ(MessageFor("a\tb\r\n\x7e"), "");
  EXPECT_EQ(
      MessageFor(
          "\xc2\x80 \xdf\xbf \xe0\xa0\x80 \xed\x9f\xbf \xee\x80\x80 \xef\xbf\xbf \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"),
      "");
}

TEST(TextFault, IsNamedWithItsLine) {
  const auto fault = FindTextFault("a\n\nb\x04\n");

  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->line, 3);
  EXPECT_EQ(fault->message, "must be text, got the control character 0x04");
}

TEST(TextFault, ControlCharactersAreRefused) {
  for (const absl::string_view text :
       {absl::string_view("\0", 1), absl::string_view("\x1b"), absl::string_view("\x7f")}) {
    EXPECT_THAT(MessageFor(text), ::testing::StartsWith("must be text")) << static_cast<int>(text[0]);
  }
}

TEST(TextFault, BytesThatAreNoUtf8AreRefused) {
  for (const char* text : {"\x80", "\xc3", "\xc3z", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
                           "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_THAT(MessageFor(text), ::testing::StartsWith("must be UTF-8 text")) << text;
  }
}

// Variables and flags may hold any bytes.
TEST(Quote, IsTextWhateverTheBytes) {
  EXPECT_EQ(Quote("\u00e4\"\n"), "\"\u00e4\\\"\\n\"");
  EXPECT_EQ(Quote("a\x85"), R"("a\x85")");
  EXPECT_EQ(Quote(std::string(127, 'x') + "\u00e4"), absl::StrCat("\"", std::string(127, 'x'), "…\""));
}

}  // namespace
}  // namespace embd::config
