#include "client/cli/files/uneven_rows.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace embd::cli {
namespace {

using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(ParseUnevenRows, TakesRowsOfAnyLength) {
  ASSERT_OK_AND_ASSIGN(const UnevenRows rows, ParseUnevenRows("1 2,3;; 4 -5"));

  EXPECT_THAT(rows.lengths, ElementsAre(3, 0, 2));
  EXPECT_THAT(rows.values, ElementsAre(1, 2, 3, 4, -5));
}

TEST(ParseUnevenRows, TakesLinesAsRows) {
  ASSERT_OK_AND_ASSIGN(const UnevenRows rows, ParseUnevenRows("# ids\n1 2;\n\n;\n3\n"));

  EXPECT_THAT(rows.lengths, ElementsAre(2, 0, 1));
}

TEST(ParseUnevenRows, NamesTheRowOfWhatIsNoNumber) {
  EXPECT_THAT(ParseUnevenRows("1; 2 x"), StatusIs(kInvalid, "row 1: \"x\" is not a whole number"));
  EXPECT_THAT(ParseUnevenRows("1; 2,,3"), StatusIs(kInvalid, HasSubstr("row 1: nothing before comma")));
  EXPECT_THAT(ParseUnevenRows(" "), StatusIs(kInvalid, "no numbers found"));
}

TEST(ParseUnevenJson, TakesListsOfAnyLength) {
  ASSERT_OK_AND_ASSIGN(const UnevenRows rows, ParseUnevenJson("[[1, 2], [], [3]]"));
  ASSERT_OK_AND_ASSIGN(const UnevenRows one, ParseUnevenJson("[1, 2]"));
  ASSERT_OK_AND_ASSIGN(const UnevenRows none, ParseUnevenJson("[]"));

  EXPECT_THAT(rows.lengths, ElementsAre(2, 0, 1));
  EXPECT_THAT(rows.values, ElementsAre(1, 2, 3));
  EXPECT_THAT(one.lengths, ElementsAre(2));
  EXPECT_THAT(none.lengths, IsEmpty());
}

TEST(ParseUnevenJson, RefusesWhatIsNoListOfListsOfIds) {
  for (const char* text : {"", "1", "[[1], 2]", "[1, [2]]", "[[1.5]]", "[[[1]]]", "[[9223372036854775808]]", "[[1]] x",
                           "{\"a\": [1]}", "[[null]]"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseUnevenJson(text), StatusIs(kInvalid, HasSubstr("no list of lists of whole numbers")));
  }
}

TEST(ParseUnevenJson, RefusesAZeroByteBehindTheLists) {
  EXPECT_THAT(ParseUnevenJson(std::string("[[1], [2, 3]]\0", 14)), StatusIs(kInvalid, HasSubstr("no list of lists")));
}

TEST(ParseUnevenJson, RefusesListsInListsWithoutEnd) {
  constexpr std::size_t kDepth = 1'000'000;
  const std::string deep = std::string(kDepth, '[') + std::string(kDepth, ']');
  for (const std::string& text : {deep, absl::StrCat("[1, ", deep, "]"), absl::StrCat("[[1], ", deep, "]")}) {
    EXPECT_THAT(ParseUnevenJson(text), StatusIs(kInvalid, HasSubstr("no list of lists")));
  }
}

TEST(ParseUnevenJsonLines, TakesAListALine) {
  ASSERT_OK_AND_ASSIGN(const UnevenRows rows, ParseUnevenJsonLines("[1, 2]\n\n[]\n[3]\n"));

  EXPECT_THAT(rows.lengths, ElementsAre(2, 0, 1));
  EXPECT_THAT(ParseUnevenJsonLines("[1]\n2\n"), StatusIs(kInvalid, HasSubstr("line 2")));
  EXPECT_THAT(ParseUnevenJsonLines("\n"), StatusIs(kInvalid, "no lists found"));
}

}  // namespace
}  // namespace embd::cli
