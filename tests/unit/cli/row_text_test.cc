#include "client/cli/files/row_text.h"

#include <limits>
#include <sstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

using embd::testing::IsOk;
using embd::testing::StatusIs;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Ids;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

TEST(ParseRows, TakesSemicolonsAndLineEndsAsEndsOfRows) {
  const Tensor expected = Ids({2, 3}, {1, 2, 3, 4, 5, 6});

  for (const char* text : {"1 2 3; 4 5 6", "1 2 3;4 5 6;", "1,2,3\n4,5,6\n", " 1\t2 , 3\r\n\r\n# ids\n4 5 6",
                           "\xEF\xBB\xBF"
                           "1 2 3;\n4 5 6"}) {
    SCOPED_TRACE(text);
    ASSERT_OK_AND_ASSIGN(const Tensor ids, ParseRows(text, DataType::kInt64));
    EXPECT_EQ(ids, expected);
  }
}

TEST(ParseRows, TakesTheWholeRangeOf64Bits) {
  ASSERT_OK_AND_ASSIGN(const Tensor ids, ParseRows("-9223372036854775808 +9223372036854775807", DataType::kInt64));

  EXPECT_EQ(ids, Ids({1, 2}, {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}));
}

TEST(ParseRows, NamesTheRowThatHasAnotherLength) {
  EXPECT_THAT(ParseRows("1 2 3; 4 5", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("row 1: has 2 values, row 0 has 3")));
}

TEST(ParseRows, RefusesWhatDoesNotFit64Bits) {
  EXPECT_THAT(ParseRows("1; 9223372036854775808", DataType::kInt64),
              StatusIs(kInvalid, HasSubstr("row 1: \"9223372036854775808\" does not fit 64 bits")));
}

TEST(ParseRows, RefusesWhatIsNoWholeNumber) {
  for (const char* text : {"1 x", "1 2.5", "1 0x10", "1 +", "1 --2", "1 1e3"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseRows(text, DataType::kInt64), StatusIs(kInvalid, HasSubstr("is not a whole number")));
  }
}

TEST(ParseRows, RefusesEmptyRowsAndCells) {
  EXPECT_THAT(ParseRows("1 2;;3 4", DataType::kInt64), StatusIs(kInvalid, HasSubstr("row 1: has no values")));
  EXPECT_THAT(ParseRows("1,,2", DataType::kInt64), StatusIs(kInvalid, HasSubstr("nothing before comma 2")));
  EXPECT_THAT(ParseRows(",1", DataType::kInt64), StatusIs(kInvalid, HasSubstr("nothing before comma 1")));
  EXPECT_THAT(ParseRows("1,2,", DataType::kInt64), StatusIs(kInvalid, HasSubstr("nothing after the last comma")));
}

TEST(ParseRows, RefusesTextWithoutNumbers) {
  for (const char* text : {"", "  \n", "# nothing\n"}) {
    SCOPED_TRACE(text);
    EXPECT_THAT(ParseRows(text, DataType::kInt64), StatusIs(kInvalid, HasSubstr("no numbers found")));
  }
}

TEST(ParseRows, ReadsFloatsOfEveryKind) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();

  ASSERT_OK_AND_ASSIGN(const Tensor values, ParseRows("1.5 -2e-3 inf -Infinity 1e-99 +7", DataType::kFloat32));

  EXPECT_EQ(values, Floats({1, 6}, {1.5f, -2e-3f, kInfinity, -kInfinity, 0.0f, 7.0f}));
}

TEST(ParseRows, RefusesTwoSigns) {
  EXPECT_THAT(ParseRows("+-5", DataType::kInt64), StatusIs(kInvalid, HasSubstr("\"+-5\" is not a whole number")));
  EXPECT_THAT(ParseRows("+-5", DataType::kFloat32), StatusIs(kInvalid, HasSubstr("\"+-5\" is not a number")));
  EXPECT_THAT(ParseRows("+5", DataType::kInt64), IsOk());
}

TEST(ParseRows, RefusesFloatsThatAreTooLarge) {
  EXPECT_THAT(ParseRows("1e39", DataType::kFloat32), StatusIs(kInvalid, HasSubstr("\"1e39\" does not fit float32")));
  EXPECT_THAT(ParseRows("1e39", DataType::kFloat64), IsOk());
}

TEST(WriteRows, PutsTheLastExtentOnALine) {
  std::ostringstream out;

  WriteRows(Floats({2, 2, 2}, {1, 0.1f, -2, 1e-10f, 3, 4, 5, 1e30f}).view(), ',', out);

  EXPECT_EQ(out.str(), "1.0,0.1\n-2.0,1e-10\n3.0,4.0\n5.0,1e+30\n");
}

TEST(WriteRows, WritesHalfPrecisionAsTheFloat32ItEquals) {
  std::ostringstream out;

  WriteRows(testing::MakeTensor<std::uint16_t>(DataType::kFloat16, {1, 3}, {0x2E66, 0x7C00, 0x0001}).view(), ' ', out);

  EXPECT_EQ(out.str(), "0.099975586 inf 5.9604645e-08\n");
}

}  // namespace
}  // namespace embd::cli
