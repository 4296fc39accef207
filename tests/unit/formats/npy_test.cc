#include "server/formats/npy.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/npy_header.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<core::Table> LoadBytes(const std::string& bytes) {
  const ScratchFolder folder;
  const auto file = FileReader::Open(folder.Write("table.npy", bytes));
  if (!file.ok()) return file.status();
  auto loaded = LoadNpy(*file);
  if (!loaded.ok()) return loaded.status();
  return std::move(loaded->table);
}

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};

// A header of version 1.0 with a header of `dict` and six float32 values.
std::string SixFloats(const std::string& dict) { return NpyFile(dict, Raw(kValues)); }

std::string Version(char major, char minor) {
  std::string bytes = SixFloats(NpyDict("'<f4'", "(2, 3)"));
  bytes[6] = major;
  bytes[7] = minor;
  return bytes;
}

std::string Magic(absl::string_view magic) {
  return absl::StrCat(magic, SixFloats(NpyDict("'<f4'", "(2, 3)")).substr(6));
}

std::string FirstBytes(std::size_t count) { return SixFloats(NpyDict("'<f4'", "(2, 3)")).substr(0, count); }

struct Case {
  std::string name;
  std::string bytes;
  std::string message;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class NpyRefused : public ::testing::TestWithParam<Case> {};

TEST_P(NpyRefused, WithPlaceAndReason) {
  const auto result = LoadBytes(GetParam().bytes);

  EXPECT_THAT(result, StatusIs(GetParam().code, HasSubstr(GetParam().message)));
  EXPECT_THAT(result,
              ReasonIs(GetParam().code == absl::StatusCode::kInvalidArgument ? "INVALID_FILE" : "UNSUPPORTED_FORMAT"));
}

INSTANTIATE_TEST_SUITE_P(
    Magic, NpyRefused,
    ::testing::Values(Case{"FirstByteIsAnother", Magic("\x92NUMPY"), "byte 0: not an .npy file"},
                      Case{"FirstByteIsZero", Magic(absl::string_view("\0NUMPY", 6)), "byte 0: not an .npy file"},
                      Case{"LowerCase", Magic("\x93numpy"), "byte 0: not an .npy file"},
                      Case{"OtherProgram", Magic("\x93MATLB"), "byte 0: not an .npy file"},
                      Case{"EmptyFile", "", "byte 0: not an .npy file"},
                      Case{"FiveBytes", FirstBytes(5), "byte 0: not an .npy file"},
                      Case{"CutAfterSixBytes", FirstBytes(6), "byte 6: the file ends within its version"},
                      Case{"CutAfterSevenBytes", FirstBytes(7), "byte 7: the file ends within its version"},
                      Case{"ZipArchive", std::string("PK\x03\x04", 4) + std::string(100, '\0'), "byte 0: not an .npy"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(Version, NpyRefused,
                         ::testing::Values(Case{"V1Point1", Version(1, 1), "byte 6: version 1.1 is unknown"},
                                           Case{"V0Point0", Version(0, 0), "byte 6: version 0.0 is unknown"},
                                           Case{"V0Point1", Version(0, 1), "byte 6: version 0.1 is unknown"},
                                           Case{"V2Point2", Version(2, 2), "byte 6: version 2.2 is unknown"},
                                           Case{"V4Point0", Version(4, 0), "byte 6: version 4.0 is unknown"},
                                           Case{"V255Point255", Version('\xFF', '\xFF'),
                                                "byte 6: version 255.255 is unknown"}),
                         NameOf);

INSTANTIATE_TEST_SUITE_P(
    HeaderLength, NpyRefused,
    ::testing::Values(
        Case{"V1WithoutLength", FirstBytes(9), "byte 8: the file ends within the length"},
        Case{"V2WithoutHeader", absl::StrCat("\x93NUMPY\x02", std::string(1, '\0')), "byte 8: the file ends within"},
        Case{"V2LengthCut", absl::StrCat("\x93NUMPY\x02", std::string(3, '\0')), "byte 8: the file ends within"},
        Case{"ShorterThanItsLength", FirstBytes(40), "bytes goes beyond the file's 40"},
        Case{"HugeInV2", NpyFile(NpyDict("'<f4'", "(2, 3)") + std::string(65'536, ' '), Raw(kValues), 2),
             "exceeds 65536"},
        Case{"FourGigabytesInV3", absl::StrCat("\x93NUMPY\x03", std::string(1, '\0'), "\xFF\xFF\xFF\xFF"),
             "byte 8: a header of 4294967295 bytes exceeds 65536"},
        Case{"ZeroBytes", NpyFile("", Raw(kValues)), "byte 10: the header is not a Python dict"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Dict, NpyRefused,
    ::testing::Values(
        Case{"MissingFortranOrder", SixFloats("{'descr': '<f4', 'shape': (2, 3)}"),
             R"(key "fortran_order" is missing)"},
        Case{"MissingDescr", SixFloats("{'fortran_order': False, 'shape': (2, 3)}"), R"(key "descr" is missing)"},
        Case{"MissingShape", SixFloats("{'descr': '<f4', 'fortran_order': False}"), R"(key "shape" is missing)"},
        Case{"NoKeys", SixFloats("{}"), "byte 12: key \"descr\" is missing"},
        Case{"ExtraKey", SixFloats("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'x': 1}"),
             R"(unknown key "x"; descr, fortran_order and shape are allowed)"},
        Case{"KeyTwice", SixFloats("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (3, 2)}"),
             R"(key "shape" stands twice)"},
        Case{"KeyWithoutQuotes", SixFloats("{descr: '<f4'}"), "byte 11: expected a string in quotes"},
        Case{"KeyNotClosed", SixFloats("{'descr"), "byte 11: a string is not closed"},
        Case{"KeyWithBackslash", SixFloats("{'de\\x73cr': '<f4'}"), "byte 11: a string with a backslash"},
        Case{"NoColon", SixFloats("{'descr' '<f4'}"), "byte 19: expected :"},
        Case{"NoComma", SixFloats("{'descr': '<f4' 'fortran_order': False}"), "byte 26: expected , or }"},
        Case{"TwoCommas", SixFloats("{'descr': '<f4',, 'fortran_order': False}"), "expected a string in quotes"},
        Case{"NotClosed", SixFloats("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3),"),
             "expected a string in quotes"},
        Case{"TextBehind", SixFloats(NpyDict("'<f4'", "(2, 3)") + "x"), "the header goes on after its closing }"},
        Case{"ZeroByteBehind", SixFloats(NpyDict("'<f4'", "(2, 3)") + std::string(1, '\0')),
             "goes on after its closing"},
        Case{"List", SixFloats("['descr']"), "byte 10: the header is not a Python dict"},
        Case{"Expression", SixFloats("__import__('os')"), "byte 10: the header is not a Python dict"},
        Case{"OnlyBrackets", SixFloats(std::string(60'000, '{')), "byte 11: expected a string in quotes"}),
    NameOf);

std::string Shape(const std::string& shape) { return SixFloats(NpyDict("'<f4'", shape)); }
std::string Order(const std::string& order) {
  return SixFloats(absl::StrCat("{'descr': '<f4', 'fortran_order': ", order, ", 'shape': (2, 3)}"));
}

INSTANTIATE_TEST_SUITE_P(
    Values, NpyRefused,
    ::testing::Values(Case{"ShapeIsANumber", Shape("6"), "shape must be a tuple: expected ("},
                      Case{"ShapeIsANumberInParentheses", Shape("(6)"), "shape must be a tuple: (n) is a number"},
                      Case{"ShapeIsAList", Shape("[2, 3]"), "shape must be a tuple: expected ("},
                      Case{"ShapeNotClosed", Shape("(2, 3"), "a dimension must be a whole number"},
                      Case{"ShapeWithoutComma", Shape("(2 3)"), "expected , or )"},
                      Case{"ShapeOnlyComma", Shape("(,)"), "a dimension must be a whole number"},
                      Case{"ShapeNegative", Shape("(-2, 3)"), "a dimension must be a whole number of at least 0"},
                      Case{"ShapeFraction", Shape("(2.0, 3)"), "expected , or )"},
                      Case{"ShapeHex", Shape("(0x2, 3)"), "expected , or )"},
                      Case{"ShapeLeadingZero", Shape("(02, 3)"), "a dimension with a leading 0"},
                      Case{"ShapeTwoSuffixes", Shape("(2LL, 3)"), "expected , or )"},
                      Case{"ShapeTooLarge", Shape("(9223372036854775808, 1)"), "a dimension exceeds 2^63 - 1"},
                      Case{"ShapeOverflows", Shape("(9223372036854775807, 9223372036854775807)"),
                           "takes more than 2^63 - 1 bytes of data, the file holds 24"},
                      Case{"ShapeOverflowsWithTheElementSize", Shape("(4611686018427387904, 1)"),
                           "takes more than 2^63 - 1 bytes"},
                      Case{"ShapeFarLargerThanTheFile", Shape("(1000000000, 1000)"), "takes 4000000000000 bytes"},
                      Case{"Rank0", Shape("()"), "the array has 0 dimensions; a table has 2"},
                      Case{"Rank1", Shape("(6,)"), "the array has 1 dimension; a table has 2"},
                      Case{"Rank3", Shape("(1, 2, 3)"), "the array has 3 dimensions; a table has 2"},
                      Case{"NoRows", NpyFile(NpyDict("'<f4'", "(0, 3)"), ""), "shape (0, 3) has no elements"},
                      Case{"NoColumns", NpyFile(NpyDict("'<f4'", "(3, 0)"), ""), "shape (3, 0) has no elements"},
                      Case{"OrderIsANumber", Order("0"), "fortran_order must be True or False"},
                      Case{"OrderInLowerCase", Order("false"), "fortran_order must be True or False"},
                      Case{"OrderIsAString", Order("'False'"), "fortran_order must be True or False"},
                      Case{"OrderMissing", Order(""), "fortran_order must be True or False"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Data, NpyRefused,
    ::testing::Values(Case{"OneByteMissing", NpyFile(NpyDict("'<f4'", "(2, 3)"), Raw(kValues).substr(0, 23)),
                           "shape (2, 3) of float32 takes 24 bytes of data, the file holds 23"},
                      Case{"NoData", NpyFile(NpyDict("'<f4'", "(2, 3)"), ""), "the file holds 0"},
                      Case{"OneByteLeftOver", NpyFile(NpyDict("'<f4'", "(2, 3)"), Raw(kValues) + "x"),
                           "takes 24 bytes of data, the file holds 25"},
                      Case{"FortranOrderOneByteMissing",
                           NpyFile(NpyDict("'<f4'", "(2, 3)", true), Raw(kValues).substr(0, 23)), "the file holds 23"}),
    NameOf);

Case Dtype(const std::string& name, const std::string& descr, const std::string& message) {
  return {name, SixFloats(NpyDict(descr, "(2, 3)")), message, absl::StatusCode::kUnimplemented};
}

INSTANTIATE_TEST_SUITE_P(
    Dtype, NpyRefused,
    ::testing::Values(
        Dtype("Int32", "'<i4'", R"(byte 20: dtype "<i4" is not served; f2, f4 and f8 are, in either byte order)"),
        Dtype("Object", "'|O'", R"(dtype "|O" is not served)"), Dtype("ObjectOfPython2", "'|O8'", R"(dtype "|O8")"),
        Dtype("Complex64", "'<c8'", R"(dtype "<c8" is not served)"),
        Dtype("LongDouble", "'<f16'", R"(dtype "<f16" is not served)"), Dtype("Bool", "'|b1'", R"(dtype "|b1")"),
        Dtype("Unsigned", "'>u8'", R"(dtype ">u8")"), Dtype("RawBytes", "'|V2'", R"(dtype "|V2")"),
        Dtype("Text", "'<U7'", R"(dtype "<U7")"), Dtype("Time", "'<M8[ns]'", R"(dtype "<M8[ns]")"),
        Dtype("Structured", "[('x', '<f4'), ('y', '<f4')]", "byte 20: a structured dtype is not served"),
        Dtype("SubArray", "('<f4', (3,))", "byte 20: a structured dtype is not served"),
        Case{"Unknown", SixFloats(NpyDict("'<x4'", "(2, 3)")), R"(byte 20: "<x4" is no numpy dtype)"},
        Case{"Empty", SixFloats(NpyDict("''", "(2, 3)")), R"("" is no numpy dtype)"},
        Case{"TwoByteOrders", SixFloats(NpyDict("'<>f4'", "(2, 3)")), R"("<>f4" is no numpy dtype)"},
        Case{"Number", SixFloats(NpyDict("4", "(2, 3)")), "byte 20: expected a string in quotes"}),
    NameOf);

class NpyAccepted : public ::testing::TestWithParam<Case> {};

TEST_P(NpyAccepted, WithItsValues) {
  ASSERT_OK_AND_ASSIGN(const core::Table table, LoadBytes(GetParam().bytes));

  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(table.dim(), 3);
  EXPECT_EQ(ElementBits<std::uint32_t>(table), FloatBits(kValues));
}

INSTANTIATE_TEST_SUITE_P(
    All, NpyAccepted,
    ::testing::Values(
        Case{"Version1", NpyFile(NpyDict("'<f4'", "(2, 3)"), Raw(kValues), 1), ""},
        Case{"Version2", NpyFile(NpyDict("'<f4'", "(2, 3)"), Raw(kValues), 2), ""},
        Case{"Version3", NpyFile(NpyDict("'<f4'", "(2, 3)"), Raw(kValues), 3), ""},
        Case{"NativeByteOrder", SixFloats(NpyDict("'=f4'", "(2, 3)")), ""},
        Case{"ByteOrderNotApplicable", SixFloats(NpyDict("'|f4'", "(2, 3)")), ""},
        Case{"NoByteOrder", SixFloats(NpyDict("'f4'", "(2, 3)")), ""},
        Case{"LongNumbersOfPython2", SixFloats(NpyDict("'<f4'", "(2L, 3L)")), ""},
        Case{"DoubleQuotes", SixFloats(R"({"descr": "<f4", "fortran_order": False, "shape": (2, 3)})"), ""},
        Case{"KeysInAnotherOrder", SixFloats("{'shape': (2, 3), 'fortran_order': False, 'descr': '<f4'}"), ""},
        Case{"NoWhiteSpace", SixFloats("{'descr':'<f4','fortran_order':False,'shape':(2,3)}"), ""},
        Case{"CommaAfterTheLastDimension", SixFloats(NpyDict("'<f4'", "(2, 3,)")), ""},
        Case{"MuchPadding", SixFloats(NpyDict("'<f4'", "(2, 3)") + std::string(65'000, ' ') + "\n"), ""},
        Case{"HeaderOf64KiBInV2", NpyFile(NpyDict("'<f4'", "(2, 3)") + std::string(65'476, ' '), Raw(kValues), 2), ""},
        Case{"FortranOrder", NpyFile(NpyDict("'<f4'", "(2, 3)", true), Raw<float>({1, 4, 2, 5, 3, 6})), ""}),
    NameOf);

TEST(Npy, EveryBitOfANanComesThrough) {
  const std::vector<std::uint32_t> bits = {0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0x00000001};

  ASSERT_OK_AND_ASSIGN(const core::Table table, LoadBytes(NpyFile(NpyDict("'<f4'", "(1, 4)"), Raw(bits))));

  EXPECT_EQ(ElementBits<std::uint32_t>(table), bits);
}

// Longer than the pieces in which bytes are reversed.
TEST(Npy, BigEndianEqualsItsLittleEndianTwin) {
  constexpr std::size_t kCount = 3 * 70'001;
  std::vector<std::uint32_t> bits(kCount);
  std::string big_endian;
  for (std::size_t i = 0; i < kCount; ++i) {
    bits[i] = static_cast<std::uint32_t>(i * 2'654'435'761u);
    const std::string bytes = LittleEndian(bits[i], 4);
    big_endian.append(bytes.rbegin(), bytes.rend());
  }

  ASSERT_OK_AND_ASSIGN(const core::Table table, LoadBytes(NpyFile(NpyDict("'>f4'", "(70001, 3)"), big_endian)));

  EXPECT_TRUE(ElementBits<std::uint32_t>(table) == bits);
}

// Any prefix of a good file is a bad one, and none of them crashes.
TEST(Npy, EveryPrefixIsRefused) {
  const std::string bytes = SixFloats(NpyDict("'<f4'", "(2, 3)"));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    SCOPED_TRACE(length);
    EXPECT_THAT(LoadBytes(bytes.substr(0, length)), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("byte ")));
  }
}

TEST(NpyDict, MessagesCountBytesFromTheGivenOffset) {
  EXPECT_THAT(ParseNpyDict("{'descr': '<i4'", 1000),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("byte 1010:"))));
}

}  // namespace
}  // namespace embd::formats
