#include "server/formats/safetensors.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/safetensors_header.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

absl::Status CheckBytes(const std::string& bytes) {
  const ScratchFolder folder;
  const auto file = FileReader::Open(folder.Write("x.safetensors", bytes));
  return file.ok() ? ReadSafetensorsHeader(*file).status() : file.status();
}

absl::StatusOr<core::Table> LoadBytes(const std::string& bytes, const std::string& tensor) {
  const ScratchFolder folder;
  const auto file = FileReader::Open(folder.Write("x.safetensors", bytes));
  if (!file.ok()) return file.status();
  auto loaded = LoadSafetensors(*file, tensor);
  if (!loaded.ok()) return loaded.status();
  return std::move(loaded->table);
}

std::string Zeros(std::size_t count) { return std::string(count, '\0'); }

// A file with that header and `data_bytes` zero bytes.
std::string WithHeader(const std::string& header, std::size_t data_bytes = 0) {
  return SafetensorsFile(header, Zeros(data_bytes));
}

// A file with one tensor "a" of those fields, and 16 bytes of data.
std::string WithFields(const std::string& fields) { return WithHeader(absl::StrCat("{\"a\":{", fields, "}}"), 16); }

struct Case {
  std::string name;
  std::string bytes;
  std::string message;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class SafetensorsRefused : public ::testing::TestWithParam<Case> {};

TEST_P(SafetensorsRefused, WithPlaceAndReason) {
  const auto result = CheckBytes(GetParam().bytes);

  EXPECT_THAT(result, AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)),
                            ReasonIs("INVALID_FILE")));
}

INSTANTIATE_TEST_SUITE_P(
    HeaderLength, SafetensorsRefused,
    ::testing::Values(
        Case{"EmptyFile", "", "byte 0: the file ends within the length of its header"},
        Case{"SevenBytes", Zeros(7), "byte 7: the file ends within the length of its header"},
        Case{"TooLarge", absl::StrCat("\x3C", Zeros(4), "\xFF\xFF\xFF"), "bytes exceeds 100000000"},
        Case{"OneMoreThanAllowed", LittleEndian(100'000'001, 8) + "{}",
             "byte 0: a header of 100000001 bytes exceeds 100000000"},
        Case{"AllBitsSet", std::string(8, '\xFF') + "{}", "a header of 18446744073709551615 bytes exceeds"},
        Case{"BeyondTheFile", absl::StrCat("\x3C", Zeros(7)), "byte 0: a header of 60 bytes goes beyond the file's 8"},
        Case{"ThousandInATinyFile", LittleEndian(1000, 8) + "{}", "goes beyond the file's 10"},
        Case{"Zero", Zeros(8), "byte 8: the text is not valid JSON"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Json, SafetensorsRefused,
    ::testing::Values(Case{"NotUtf8", WithHeader("\xFF"), "byte 8: the text is not valid JSON"},
                      Case{"NotUtf8InAName", WithHeader("{\"\xFF\":1}"), "byte 10: the text is not valid JSON"},
                      Case{"OnlyABrace", WithHeader("{"), "byte 9: the text is not valid JSON"},
                      Case{"OnlyWhiteSpace", WithHeader("    "), "the text is not valid JSON"},
                      Case{"TextBehind", WithHeader("{}x"), "byte 10: the text is not valid JSON"},
                      Case{"ZeroByteBehind", WithHeader(absl::StrCat("{}", Zeros(1), "x")),
                           "byte 10: the text is not valid JSON: a zero byte"},
                      Case{"SecondObject", WithHeader("{}{}"), "byte 10: the text is not valid JSON"},
                      Case{"ByteOrderMark", WithHeader("\xEF\xBB\xBF{}"),
                           "byte 8: the text is not valid JSON: a byte order mark"},
                      Case{"Comment", WithHeader("{}/* */"), "the text is not valid JSON"},
                      Case{"TrailingComma", WithHeader("{\"__metadata__\":{},}"), "the text is not valid JSON"},
                      Case{"LoneSurrogate", WithHeader("{\"\\ud800\":{}}"), "the text is not valid JSON"},
                      Case{"Array", WithHeader("[]"), "the header is not a JSON object but an array"},
                      Case{"Number", WithHeader("1"), "the header is not a JSON object but a number"},
                      Case{"Null", WithHeader("null"), "the header is not a JSON object but null"},
                      Case{"DeepArrays", WithHeader(std::string(1'000'000, '[')), "the header is not a JSON object"},
                      Case{"DeepObjects", WithHeader([] {
                             std::string deep = "{\"a\":{\"x\":";
                             for (int i = 0; i < 200'000; ++i) deep += "{\"x\":[";
                             return deep;
                           }()),
                           "the text is not valid JSON"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Fields, SafetensorsRefused,
    ::testing::Values(
        Case{"TensorIsANumber", WithHeader(R"({"a":1})"), R"(tensor "a": must be an object, got a number)"},
        Case{"TensorIsAnArray", WithHeader(R"({"a":[]})"), R"(tensor "a": must be an object, got an array)"},
        Case{"TensorIsNull", WithHeader(R"({"a":null})"), R"(tensor "a": must be an object, got null)"},
        Case{"NoFields", WithFields(""), R"(tensor "a": field "dtype" is missing)"},
        Case{"NoDtype", WithFields(R"("shape":[4],"data_offsets":[0,16])"), R"(tensor "a": field "dtype" is missing)"},
        Case{"NoShape", WithFields(R"("dtype":"F32","data_offsets":[0,16])"), R"(field "shape" is missing)"},
        Case{"NoOffsets", WithFields(R"("dtype":"F32","shape":[4])"), R"(field "data_offsets" is missing)"},
        Case{"DtypeTwice", WithFields(R"("dtype":"F32","dtype":"F16","shape":[4],"data_offsets":[0,16])"),
             R"(tensor "a": field "dtype" stands twice)"},
        Case{"ShapeTwice", WithFields(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,16])"),
             R"(tensor "a": field "shape" stands twice)"},
        Case{"OffsetsTwice", WithFields(R"("dtype":"F32","shape":[4],"data_offsets":[0,8],"data_offsets":[8,16])"),
             R"(tensor "a": field "data_offsets" stands twice)"},
        Case{"EmptyDtypeAndNoDimensions", WithFields(R"("dtype":"","shape":[],"data_offsets":[0,16])"),
             R"(tensor "a": dtype "" is unknown)"},
        Case{"UnknownDtype", WithFields(R"("dtype":"F33","shape":[4],"data_offsets":[0,16])"),
             R"(tensor "a": dtype "F33" is unknown)"},
        Case{"DtypeInLowerCase", WithFields(R"("dtype":"f32","shape":[4],"data_offsets":[0,16])"),
             R"(dtype "f32" is unknown)"},
        Case{"DtypeIsANumber", WithFields(R"("dtype":32,"shape":[4],"data_offsets":[0,16])"),
             "dtype must be a string, got a number"},
        Case{"ShapeIsANumber", WithFields(R"("dtype":"F32","shape":4,"data_offsets":[0,16])"),
             "shape must be an array, got a number"},
        Case{"ShapeIsAnObject", WithFields(R"("dtype":"F32","shape":{},"data_offsets":[0,16])"),
             "shape must be an array, got an object"},
        Case{"ShapeNegative", WithFields(R"("dtype":"F32","shape":[-4],"data_offsets":[0,16])"),
             "shape must hold whole numbers of at least 0, got a negative number"},
        Case{"ShapeFraction", WithFields(R"("dtype":"F32","shape":[4.0],"data_offsets":[0,16])"),
             "shape must hold whole numbers of at least 0, got a number with a fraction"},
        Case{"ShapeOfStrings", WithFields(R"("dtype":"F32","shape":["4"],"data_offsets":[0,16])"),
             "shape must hold whole numbers of at least 0, got a string"},
        Case{"ShapeOfArrays", WithFields(R"("dtype":"F32","shape":[[4]],"data_offsets":[0,16])"),
             "shape must hold whole numbers of at least 0, got an array"},
        Case{"ShapeBeyond64Bits", WithFields(R"("dtype":"F32","shape":[18446744073709551616],"data_offsets":[0,16])"),
             "shape must hold whole numbers"},
        Case{"OffsetsAreANumber", WithFields(R"("dtype":"F32","shape":[4],"data_offsets":16)"),
             R"(tensor "a": data_offsets must be an array, got a number)"},
        Case{"OffsetsAreAnObject", WithFields(R"("dtype":"F32","shape":[4],"data_offsets":{})"),
             R"(tensor "a": data_offsets must be an array, got an object)"},
        Case{"OneOffset", WithFields(R"("dtype":"F32","shape":[4],"data_offsets":[0])"),
             "data_offsets must hold two numbers, got 1"},
        Case{"ThreeOffsets", WithFields(R"("dtype":"F32","shape":[4],"data_offsets":[0,16,16])"),
             "data_offsets must hold two numbers, got more"},
        Case{"OffsetNegative", WithFields(R"("dtype":"F32","shape":[4],"data_offsets":[-1,15])"),
             "data_offsets must hold whole numbers of at least 0, got a negative number"},
        Case{"OffsetsBackwards", WithFields(R"("dtype":"F32","shape":[4],"data_offsets":[16,0])"),
             "data_offsets [16, 0] end before they begin"}),
    NameOf);

INSTANTIATE_TEST_SUITE_P(
    Keys, SafetensorsRefused,
    ::testing::Values(
        Case{"NameTwice", WithHeader(Header({Entry("a", "F32", "[1]", 0, 4), Entry("a", "F32", "[1]", 4, 8)}), 8),
             R"(tensor "a": the name stands twice)"},
        Case{"NameTwiceOnceEscaped",
             WithHeader(Header({Entry("a", "F32", "[1]", 0, 4), Entry("\\u0061", "F32", "[1]", 4, 8)}), 8),
             R"(tensor "a": the name stands twice)"},
        Case{"MetadataTwice", WithHeader(R"({"__metadata__":{},"__metadata__":{}})"), "__metadata__ stands twice"},
        Case{"MetadataKeyTwice", WithHeader(R"({"__metadata__":{"k":"1","k":"2"}})"),
             R"(__metadata__: key "k" stands twice)"},
        Case{"MetadataIsAString", WithHeader(R"({"__metadata__":"x"})"),
             "__metadata__ must be an object, got a string"},
        Case{"MetadataIsNull", WithHeader(R"({"__metadata__":null})"), "__metadata__ must be an object, got null"},
        Case{"MetadataValueIsANumber", WithHeader(R"({"__metadata__":{"k":1}})"),
             R"(__metadata__: "k" must be a string, got a number)"},
        Case{"MetadataValueIsAnObject", WithHeader(R"({"__metadata__":{"k":{}}})"),
             R"(__metadata__: "k" must be a string, got an object)"}),
    NameOf);

std::string TwoTensors(std::uint64_t second_begin, std::size_t data_bytes) {
  return WithHeader(Header({Entry("a", "F32", "[2]", 0, 8), Entry("b", "F32", "[2]", second_begin, second_begin + 8)}),
                    data_bytes);
}

std::string SharedSpan(int count) {
  std::vector<std::string> entries;
  for (int i = 0; i < count; ++i) entries.push_back(Entry(absl::StrCat("weight_", i), "F32", "[2,2]", 0, 16));
  return WithHeader(Header(entries), 16);
}

std::string OneTensor(const std::string& dtype, const std::string& shape, std::uint64_t end, std::size_t data_bytes) {
  return WithHeader(Header({Entry("a", dtype, shape, 0, end)}), data_bytes);
}

INSTANTIATE_TEST_SUITE_P(
    Offsets, SafetensorsRefused,
    ::testing::Values(
        Case{"OverlapOfFourBytes", TwoTensors(4, 12),
             R"(tensor "b": data_offsets [4, 12] overlap the data before, which ends at 8)"},
        Case{"HoleOfFourBytes", TwoTensors(12, 20), R"(tensor "b": data_offsets [12, 20] leave a hole)"},
        Case{"OneByteLeftOver", TwoTensors(8, 17), "the tensors take 16 bytes of data, the file holds 17"},
        Case{"TwoBytesMissing", TwoTensors(8, 14), "the tensors take 16 bytes of data, the file holds 14"},
        Case{"DataWithoutTensors", WithHeader("{}", 1), "the tensors take 0 bytes of data, the file holds 1"},
        Case{"FirstDoesNotBeginAtZero", WithHeader(Header({Entry("a", "F32", "[2]", 4, 12)}), 12), "leave a hole"},
        Case{"TenTensorsOnOneSpan", SharedSpan(10), "overlap the data before, which ends at 16"},
        Case{"OffsetsShorterThanTheShape", OneTensor("F32", "[2,2]", 12, 12),
             "its shape of F32 takes 16 bytes, data_offsets [0, 12] span 12"},
        Case{"OffsetsLongerThanTheShape", OneTensor("F32", "[2,2]", 20, 20),
             "its shape of F32 takes 16 bytes, data_offsets [0, 20] span 20"},
        Case{"ScalarWithoutBytes", OneTensor("F32", "[]", 0, 0), "takes 4 bytes, data_offsets [0, 0] span 0"},
        Case{"ElementsOverflow", OneTensor("F32", "[2,18446744073709551614]", 16, 16), "takes more than 2^64 - 1 bits"},
        Case{"BytesOverflow", OneTensor("F32", "[2,9223372036854775807]", 16, 16), "takes more than 2^64 - 1 bits"},
        Case{"OverflowThatWrapsToTheSpan", OneTensor("F32", "[4611686018427387908]", 16, 16),
             "more than 2^64 - 1 bits"},
        Case{"EndFarBeyondTheFile", OneTensor("U8", "[2305843009213693951]", 2'305'843'009'213'693'951u, 16),
             "the file holds 16"},
        Case{"FourBitFloatsNotOnAByte", OneTensor("F4", "[3]", 2, 2), "3 elements of F4 do not fill whole bytes"},
        Case{"FourBitFloatsOfAnotherSize", OneTensor("F4", "[4]", 4, 4), "its shape of F4 takes 2 bytes"},
        Case{"SixBitFloatsNotOnAByte", OneTensor("F6_E2M3", "[3]", 2, 2), "do not fill whole bytes"}),
    NameOf);

class SafetensorsAccepted : public ::testing::TestWithParam<Case> {};

TEST_P(SafetensorsAccepted, AsAFile) { EXPECT_THAT(CheckBytes(GetParam().bytes), IsOk()); }

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsAccepted,
    ::testing::Values(
        Case{"NoTensors", WithHeader("{}"), ""}, Case{"WhiteSpaceBehind", WithHeader("{}\r \t\n"), ""},
        Case{"WhiteSpaceBefore", WithHeader("\t\n{}\r "), ""}, Case{"Scalar", OneTensor("F32", "[]", 4, 4), ""},
        Case{"ZeroSized", OneTensor("I32", "[2,0]", 0, 0), ""},
        Case{"ZeroTimesHuge", OneTensor("F32", "[0,18446744073709551615]", 0, 0), ""},
        Case{"TensorsInAnotherOrderThanTheirData",
             WithHeader(Header({Entry("a", "F32", "[1]", 8, 12), Entry("b", "F64", "[1]", 0, 8)}), 12), ""},
        Case{"ZeroSizedBetweenOthers",
             WithHeader(Header({Entry("a", "F32", "[1]", 0, 4), Entry("b", "F32", "[1]", 4, 8),
                                Entry("c", "F32", "[0]", 4, 4)}),
                        8),
             ""},
        Case{"Metadata", WithHeader(R"({"__metadata__":{"format":"pt","":"\u0000"}})"), ""},
        Case{"NameWithEscapes",
             WithHeader(R"({"\n\ud83d\ude00\u0000":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1), ""},
        Case{"FieldThatTheFormatDoesNotKnow",
             WithFields(
                 R"("x":{"shape":[[{"y":1}],null]},"dtype":"F32","shape":[4],"z":[],"data_offsets":[0,16],"w":1.5)"),
             ""},
        Case{"FourBitFloats", OneTensor("F4", "[4]", 2, 2), ""},
        Case{"SixBitFloats", OneTensor("F6_E3M2", "[4]", 3, 3), ""}, Case{"Bool", OneTensor("BOOL", "[3]", 3, 3), ""},
        Case{"U8", OneTensor("U8", "[3]", 3, 3), ""}, Case{"I8", OneTensor("I8", "[3]", 3, 3), ""},
        Case{"U16", OneTensor("U16", "[3]", 6, 6), ""}, Case{"I16", OneTensor("I16", "[3]", 6, 6), ""},
        Case{"U32", OneTensor("U32", "[3]", 12, 12), ""}, Case{"I32", OneTensor("I32", "[3]", 12, 12), ""},
        Case{"U64", OneTensor("U64", "[3]", 24, 24), ""}, Case{"I64", OneTensor("I64", "[3]", 24, 24), ""},
        Case{"C64", OneTensor("C64", "[3]", 24, 24), ""}, Case{"F8E5M2", OneTensor("F8_E5M2", "[3]", 3, 3), ""},
        Case{"F8E4M3", OneTensor("F8_E4M3", "[3]", 3, 3), ""}, Case{"F8E8M0", OneTensor("F8_E8M0", "[3]", 3, 3), ""},
        Case{"F8E4M3Fnuz", OneTensor("F8_E4M3FNUZ", "[3]", 3, 3), ""},
        Case{"F8E5M2Fnuz", OneTensor("F8_E5M2FNUZ", "[3]", 3, 3), ""}),
    NameOf);

// In time that is linear, a fraction of a second; a look at each pair of them would run into the test's time limit.
TEST(SafetensorsHeader, HundredThousandTensorsOnOneSpanAreRefusedQuickly) {
  EXPECT_THAT(CheckBytes(SharedSpan(100'000)),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("overlap the data before")));
}

// Any prefix of a good file is a bad one, and none of them crashes.
TEST(SafetensorsHeader, EveryPrefixIsRefused) {
  const std::string bytes = TwoTensors(8, 16);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    SCOPED_TRACE(length);
    EXPECT_THAT(CheckBytes(bytes.substr(0, length)), Not(IsOk()));
  }
}

const std::vector<float> kValues = {1, 2, 3, 4, 5, 6};

// ids I64 [1], then "wte" and, with the same shape, "lm_head".
std::string TwoTables() {
  return SafetensorsFile(Header({Entry("ids", "I64", "[1]", 0, 8), Entry("wte", "F32", "[2,3]", 8, 32),
                                 Entry("lm_head", "F32", "[3,2]", 32, 56)}),
                         Zeros(8) + Raw(kValues) + Raw<float>({9, 8, 7, 6, 5, 4}));
}

TEST(Safetensors, TensorIsFoundByName) {
  ASSERT_OK_AND_ASSIGN(const core::Table table, LoadBytes(TwoTables(), "lm_head"));

  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.dim(), 2);
  EXPECT_EQ(ElementBits<std::uint32_t>(table), FloatBits({9, 8, 7, 6, 5, 4}));
}

TEST(Safetensors, OnlyTableNeedsNoName) {
  const std::string bytes =
      SafetensorsFile(Header({Entry("bias", "F32", "[1]", 0, 4), Entry("ids", "I64", "[1,1]", 4, 12),
                              Entry("wte", "F32", "[2,3]", 12, 36), Entry("empty", "F32", "[2,0]", 36, 36)}),
                      Zeros(12) + Raw(kValues));

  ASSERT_OK_AND_ASSIGN(const core::Table table, LoadBytes(bytes, ""));

  EXPECT_EQ(ElementBits<std::uint32_t>(table), FloatBits(kValues));
}

TEST(Safetensors, SeveralTablesNeedAName) {
  EXPECT_THAT(LoadBytes(TwoTables(), ""),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             HasSubstr(R"(several tensors could be meant, name one: "wte", "lm_head")")),
                    ReasonIs("TENSOR_NOT_FOUND")));
}

TEST(Safetensors, NameThatIsNotThereListsThoseThatAre) {
  EXPECT_THAT(LoadBytes(TwoTables(), "WTE"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             HasSubstr(R"(no tensor "WTE"; the file has "ids", "wte", "lm_head")")),
                    ReasonIs("TENSOR_NOT_FOUND")));
}

TEST(Safetensors, ListOfNamesEndsAfterTen) {
  std::vector<std::string> entries;
  for (std::uint64_t i = 0; i < 12; ++i) {
    entries.push_back(Entry(absl::StrCat("t", i), "F32", "[1,1]", 4 * i, 4 * i + 4));
  }

  EXPECT_THAT(LoadBytes(WithHeader(Header(entries), 48), ""),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(R"("t0", )"), HasSubstr(R"("t9", … (12 in all))"), Not(HasSubstr("t10")))));
}

TEST(Safetensors, ListOfLongNamesEndsEarlier) {
  std::vector<std::string> entries;
  for (std::uint64_t i = 0; i < 9; ++i) {
    entries.push_back(Entry(absl::StrCat(i, std::string(5000, 'n')), "F32", "[1,1]", 4 * i, 4 * i + 4));
  }

  const auto result = LoadBytes(WithHeader(Header(entries), 36), "");

  EXPECT_THAT(result, StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("… (9 in all)")));
  EXPECT_LT(result.status().message().size(), 1200u);
}

TEST(Safetensors, FileWithoutTablesSaysSo) {
  EXPECT_THAT(
      LoadBytes(OneTensor("F32", "[4]", 16, 16), ""),
      AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                     HasSubstr(R"(no tensor is a table: two dimensions of F32, F16, BF16 or F64; the file has "a")")),
            ReasonIs("TENSOR_NOT_FOUND")));
}

TEST(Safetensors, FileWithoutTablesShowsShapesAndTypes) {
  EXPECT_THAT(LoadBytes(OneTensor("F32", "[4]", 16, 16), ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"(the file has "a" [4] F32)")));
  EXPECT_THAT(LoadBytes(OneTensor("I32", "[1,2,1,2,1,1,1]", 16, 16), ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"(the file has "a" [1, 2, 1, 2, 1, 1, …] I32)")));
}

TEST(Safetensors, OneDimensionIsInTheSingular) {
  EXPECT_THAT(LoadBytes(OneTensor("F32", "[4]", 16, 16), "a"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("its shape has 1 dimension; a table has 2")));
}

TEST(Safetensors, FileWithoutTensorsSaysSo) {
  EXPECT_THAT(LoadBytes(WithHeader("{}"), "a"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"(no tensor "a"; the file has none)")));
}

TEST(Safetensors, NamedTensorOfAnotherTypeIsUnimplemented) {
  EXPECT_THAT(LoadBytes(TwoTables(), "ids"),
              AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(R"(tensor "ids": dtype I64 is not served)")),
                    ReasonIs("UNSUPPORTED_FORMAT")));
}

TEST(Safetensors, NamedTensorOfAnotherRankIsRefused) {
  EXPECT_THAT(LoadBytes(OneTensor("F32", "[1,2,2]", 16, 16), "a"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr(R"(tensor "a": its shape has 3 dimensions; a table has 2)")));
}

TEST(Safetensors, ZeroSizedTensorIsNoTable) {
  EXPECT_THAT(LoadBytes(OneTensor("F32", "[2,0]", 0, 0), "a"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(R"(tensor "a": shape [2, 0] has no elements)")));
}

TEST(Safetensors, EveryBitOfANanComesThrough) {
  const std::vector<std::uint16_t> bits = {0x7F81, 0xFFC1, 0x7FFF, 0x0001};

  ASSERT_OK_AND_ASSIGN(const core::Table table,
                       LoadBytes(SafetensorsFile(Header({Entry("a", "BF16", "[2,2]", 0, 8)}), Raw(bits)), "a"));

  EXPECT_EQ(table.element_type(), core::ElementType::kBFloat16);
  EXPECT_EQ(ElementBits<std::uint16_t>(table), bits);
}

}  // namespace
}  // namespace embd::formats
