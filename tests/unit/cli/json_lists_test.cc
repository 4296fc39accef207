#include "client/cli/files/json_lists.h"

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

using embd::testing::StatusIs;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Ids;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(ParseJsonLists, FindsTheShapeOfNestedLists) {
  ASSERT_OK_AND_ASSIGN(const Tensor ids, ParseJsonLists(" [[1, 2], [3,4] ,\n[5, 6]]\n", DataType::kInt64));

  EXPECT_EQ(ids, Ids({3, 2}, {1, 2, 3, 4, 5, 6}));
}

TEST(ParseJsonLists, TakesListsWithoutElements) {
  ASSERT_OK_AND_ASSIGN(const Tensor ids, ParseJsonLists("[[], []]", DataType::kInt64));

  EXPECT_EQ(ids, Ids({2, 0}, {}));
}

TEST(ParseJsonLists, TakesWhatPythonWritesForNumbersThatAreNotFinite) {
  ASSERT_OK_AND_ASSIGN(const Tensor values, ParseJsonLists("[NaN, Infinity, -Infinity, 1e-3]", DataType::kFloat32));

  EXPECT_TRUE(std::isnan(FloatAt(values.view(), 0)));
  EXPECT_EQ(FloatAt(values.view(), 1), kInfinity);
  EXPECT_EQ(FloatAt(values.view(), 2), -kInfinity);
  EXPECT_EQ(FloatAt(values.view(), 3), 1e-3f);
}

TEST(ParseJsonLists, RefusesListsOfDifferentLengths) {
  EXPECT_THAT(ParseJsonLists("[[1, 2], [3]]", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("byte 11: a list of 1 ends beside lists of 2")));
}

TEST(ParseJsonLists, RefusesListsOfDifferentDepths) {
  EXPECT_THAT(ParseJsonLists("[[1], 2]", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("lists nest 1 deep here, 2 before")));
  EXPECT_THAT(ParseJsonLists("[1, [2]]", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("lists nest 2 deep here, 1 before")));
  EXPECT_THAT(ParseJsonLists("[[], [[]]]", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("lists nest 3 deep here, 2 before")));
}

TEST(ParseJsonLists, RefusesWhatIsNoListOfNumbers) {
  for (const char* text : {"", "[", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[\"1\"]", "{\"ids\": [1]}", "[null]",
                           "[true]", "[1]]", "[1] x", "3", "]"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseJsonLists(text, DataType::kInt64), StatusIs(kInvalid, HasSubstr("byte ")));
  }
}

TEST(ParseJsonLists, RefusesFractionsAsIds) {
  EXPECT_THAT(ParseJsonLists("[[1, 2.0]]", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("byte 5: \"2.0\" is not a whole number")));
}

TEST(ParseJsonLists, BoundsTheDepth) {
  EXPECT_THAT(ParseJsonLists(std::string(1 << 20, '['), DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("lists nest deeper than 8")));
}

TEST(ParseJsonLines, MakesLinesTheOutermostExtent) {
  ASSERT_OK_AND_ASSIGN(const Tensor rows, ParseJsonLines("[1, 2]\n\n[3, 4]\r\n", DataType::kInt64));
  ASSERT_OK_AND_ASSIGN(const Tensor blocks, ParseJsonLines("[[1], [2]]\n[[3], [4]]", DataType::kInt64));

  EXPECT_EQ(rows, Ids({2, 2}, {1, 2, 3, 4}));
  EXPECT_EQ(blocks, Ids({2, 2, 1}, {1, 2, 3, 4}));
}

TEST(ParseJsonLines, NamesTheLineThatIsWrong) {
  EXPECT_THAT(ParseJsonLines("[1, 2]\n[3]\n", DataType::kInt64), StatusIs(kInvalid, HasSubstr("line 2: its lists")));
  EXPECT_THAT(ParseJsonLines("[1, 2]\n\n[3, x]\n", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("line 3, byte 4: \"x\"")));
  EXPECT_THAT(ParseJsonLines("\n", DataType::kInt64), StatusIs(kInvalid, HasSubstr("no lists found")));
}

TEST(WriteJsonLists, WritesNestedListsThatKeepFloatsFloats) {
  std::ostringstream out;

  WriteJsonLists(Floats({2, 1, 2}, {1, 0.1f, kInfinity, -kInfinity}).view(), out);

  EXPECT_EQ(out.str(), "[[[1.0, 0.1]], [[Infinity, -Infinity]]]");
}

TEST(WriteJsonLists, KeepsTheShapeOfAnEmptyTensor) {
  std::ostringstream out;

  WriteJsonLists(Floats({2, 0, 3}, {}).view(), out);

  EXPECT_EQ(out.str(), "[[], []]");
}

TEST(WriteJsonLines, WritesABatchRowALine) {
  std::ostringstream out;

  WriteJsonLines(Floats({2, 2, 1}, {1, 2, 3, 4}).view(), out);

  EXPECT_EQ(out.str(), "[[1.0], [2.0]]\n[[3.0], [4.0]]\n");
}

}  // namespace
}  // namespace embd::cli
