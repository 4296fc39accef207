#include "server/service/token_table.h"

#include <string>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::service {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsNull;
using ::testing::Not;
using ::testing::NotNull;
using ::testing::StartsWith;

constexpr char kSecret[] = "a-secret-of-24-letters-x";
// printf a-secret-of-24-letters-x | sha256sum
constexpr char kDigest[] = "de16fc64927acb0507d7abb31ff97503191fc7c9aa347944f1f8d24245154be4";

TokenTable Parse(const std::string& text) { return TokenTable::Parse(text, "tokens").value(); }

TEST(TokenTable, KnowsRoleAndNameOfEachToken) {
  const TokenTable table = Parse("read alice 0123456789abcdef\nadmin ops@site.a_b-c fedcba9876543210\n");

  ASSERT_THAT(table.Find("0123456789abcdef"), NotNull());
  EXPECT_EQ(table.Find("0123456789abcdef")->role, Role::kRead);
  EXPECT_EQ(table.Find("0123456789abcdef")->name, "alice");
  ASSERT_THAT(table.Find("fedcba9876543210"), NotNull());
  EXPECT_EQ(table.Find("fedcba9876543210")->role, Role::kAdmin);
  EXPECT_EQ(table.Find("fedcba9876543210")->name, "ops@site.a_b-c");
}

TEST(TokenTable, KnowsNoOtherToken) {
  const TokenTable table = Parse("read alice 0123456789abcdef");

  for (const char* const other : {"", "0123456789abcde", "0123456789abcdef0", "0123456789ABCDEF", "alice"}) {
    EXPECT_THAT(table.Find(other), IsNull()) << other;
  }
}

TEST(TokenTable, KnowsTheTokenOfADigestButNotTheDigestItself) {
  for (const std::string digest : {kDigest, "DE16FC64927ACB0507D7ABB31FF97503191FC7C9AA347944F1F8D24245154BE4"}) {
    const TokenTable table = Parse("read alice sha256:" + digest);

    EXPECT_THAT(table.Find(kSecret), NotNull());
    EXPECT_THAT(table.Find("sha256:" + digest), IsNull());
    EXPECT_THAT(table.Find(digest), IsNull());
  }
}

TEST(TokenTable, SkipsCommentsBlankLinesAndSpacesOfAnyKind) {
  const TokenTable table = Parse("# read x 0000000000000000\n\n \t\n  read\talice   0123456789abcdef \r\n   # more\n");

  EXPECT_EQ(table.size(), 1);
  EXPECT_THAT(table.Find("0123456789abcdef"), NotNull());
  EXPECT_THAT(table.Find("0000000000000000"), IsNull());
}

TEST(TokenTable, NameMayHaveTwoTokensSoThatOneCanFollowTheOther) {
  EXPECT_EQ(Parse("read alice 0123456789abcdef\nread alice 0123456789abcdeg\n").size(), 2);
}

TEST(TokenTable, BadLinesAreRefusedByNumberAndNeverShown) {
  const std::string secret = kSecret;
  for (const std::string& line : {
           secret,
           "read " + secret,
           "read alice " + secret + " more",
           "root alice " + secret,
           secret + " alice read",
           "Read alice " + secret,
           "read al/ice " + secret,
           "read " + std::string(65, 'n') + " " + secret,
           std::string("read alice a-secret-of-15-"),
           "read alice " + secret + "\x01",
           "read alice " + secret + "\xC3\xA9",
           "read alice " + secret + std::string(1024, 'x'),
           "read alice sha256:" + secret,
           "read alice sha256:" + std::string(63, 'a'),
           "read alice sha256:" + std::string(63, 'a') + "g",
       }) {
    EXPECT_THAT(TokenTable::Parse("# first\nread bob 0123456789abcdef\n" + line + "\n", "/etc/tokens"),
                AllOf(StatusIs(absl::StatusCode::kFailedPrecondition,
                               AllOf(StartsWith("/etc/tokens:3: "), Not(HasSubstr("secret")))),
                      ReasonIs("BAD_TOKEN_FILE")))
        << line;
  }
}

TEST(TokenTable, TokenThatIsThereTwiceIsRefusedAlsoAsADigest) {
  for (const std::string& first : {std::string(kSecret), std::string("sha256:") + kDigest}) {
    EXPECT_THAT(TokenTable::Parse("read a " + first + "\nadmin b " + kSecret, "f"),
                StatusIs(absl::StatusCode::kFailedPrecondition, StartsWith("f:2: ")));
  }
}

TEST(TokenTable, FileWithoutTokensIsRefused) {
  for (const char* const text : {"", "\n", "# read alice 0123456789abcdef\n"}) {
    EXPECT_THAT(TokenTable::Parse(text, "f"), StatusIs(absl::StatusCode::kFailedPrecondition, StartsWith("f: ")));
  }
}

}  // namespace
}  // namespace embd::service
