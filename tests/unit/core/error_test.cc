#include "server/core/error.h"

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

using ::testing::EndsWith;
using ::testing::SizeIs;

TEST(Error, CarriesCodeReasonAndMessage) {
  const absl::Status status = InvalidArgument("ID_OUT_OF_RANGE", "ids[0][0] = 7 is outside [0, 7)");

  EXPECT_THAT(status, testing::StatusIs(absl::StatusCode::kInvalidArgument, "ids[0][0] = 7 is outside [0, 7)"));
  EXPECT_EQ(ErrorReason(status), "ID_OUT_OF_RANGE");
}

TEST(Error, StatusWithoutReasonHasAnEmptyOne) { EXPECT_EQ(ErrorReason(absl::InternalError("x")), ""); }

TEST(Quote, EscapesWhatATerminalWouldTakeForACommand) { EXPECT_EQ(Quote("a\n\x1b\"b"), R"("a\n\x1b\"b")"); }

TEST(Quote, EscapesBytesThatAreNoUtf8ButKeepsTheRest) { EXPECT_EQ(Quote("K\xc3\xb6nig"), "\"K\xc3\xb6nig\""); }

TEST(Quote, CutsAfter128Bytes) {
  const std::string quoted = Quote(std::string(100'000, 'a'));

  EXPECT_THAT(quoted, SizeIs(128 + 2 + 3));
  EXPECT_THAT(quoted, EndsWith("a…\""));
}

TEST(Quote, DoesNotCutInsideACharacter) {
  const std::string quoted = Quote(std::string(127, 'a') + "ö" + "b");

  EXPECT_EQ(quoted, "\"" + std::string(127, 'a') + "…\"");
}

TEST(ValidUtf8, KeepsCharactersOfEveryLength) {
  const std::string text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80";
  EXPECT_EQ(ValidUtf8(text), text);
}

TEST(ValidUtf8, EscapesBytesThatAreNoCharacter) {
  EXPECT_EQ(ValidUtf8("d\xFFx"), "d\\xffx");
  EXPECT_EQ(ValidUtf8("\xC3"), "\\xc3") << "cut short";
  EXPECT_EQ(ValidUtf8("\xC0\x80"), "\\xc0\\x80") << "overlong";
  EXPECT_EQ(ValidUtf8("\xED\xA0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(ValidUtf8("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond U+10FFFF";
}

}  // namespace
}  // namespace embd::core
