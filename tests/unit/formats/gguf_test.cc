// Files that break a rule each, made here byte by byte.
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/gguf_file.h"
#include "server/formats/load_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kF16 = 1;
constexpr std::uint32_t kQ8_0 = 8;
constexpr std::uint64_t kHuge = ~std::uint64_t{0};

class GgufTest : public ::testing::Test {
 protected:
  absl::StatusOr<GgufFile> Open(const GgufParts& parts) { return OpenGguf(folder_.Write("t.gguf", GgufBytes(parts))); }

  absl::StatusOr<LoadedTable> Load(const GgufParts& parts, const std::string& tensor = "", bool mmap = false) {
    return LoadTable({.path = folder_.Write("t.gguf", GgufBytes(parts)), .tensor = tensor, .mmap = mmap});
  }

  ScratchFolder folder_;
};

auto Invalid(const std::string& message) {
  return AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(message)), ReasonIs("INVALID_FILE"));
}

auto Unsupported(const std::string& message) {
  return AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr(message)), ReasonIs("UNSUPPORTED_FORMAT"));
}

TEST_F(GgufTest, FileWithoutAnythingIsOne) {
  ASSERT_OK_AND_ASSIGN(const GgufFile file, Open({}));

  EXPECT_THAT(file.metadata, IsEmpty());
  EXPECT_THAT(file.tensors, IsEmpty());
  EXPECT_THAT(Load({}), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                       HasSubstr(R"(no tensor "token_embd.weight"; the file has none)")),
                              ReasonIs("TENSOR_NOT_FOUND")));
}

TEST_F(GgufTest, VersionTwoIsLaidOutAlike) {
  ASSERT_OK_AND_ASSIGN(
      const LoadedTable loaded,
      Load({.version = 2, .tensors = {GgufEntry("token_embd.weight", {2, 1}, kF32, 0)}, .data = Raw<float>({1, 2})}));

  EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({1, 2}));
}

TEST_F(GgufTest, WrongMagicIsInvalid) {
  EXPECT_THAT(Open({.magic = "GGML"}), Invalid("byte 0: not a GGUF file"));
  EXPECT_THAT(OpenGguf(folder_.Write("short.gguf", "GG")), Invalid("byte 0: not a GGUF file"));
  EXPECT_THAT(OpenGguf(folder_.Write("empty.gguf", "")), Invalid("byte 0: not a GGUF file"));
}

TEST_F(GgufTest, OtherVersionsAreRefused) {
  EXPECT_THAT(Open({.version = 0}), Invalid("version 0 is unknown"));
  EXPECT_THAT(Open({.version = 1}), Unsupported("version 1 is not served; 2 and 3 are"));
  EXPECT_THAT(Open({.version = 4}), Unsupported("version 4 is not served"));
  EXPECT_THAT(Open({.version = 0x03000000}), Unsupported("a big-endian GGUF file is not served"));
}

TEST_F(GgufTest, EveryTruncationOfAHeaderIsInvalid) {
  const std::string whole =
      GgufBytes({.pairs = {GgufPair("k", 8, GgufText("value")),
                           GgufPair("list", 9,
                                    LittleEndian(4, 4) + LittleEndian(2, 8) + LittleEndian(7, 4) + LittleEndian(8, 4))},
                 .tensors = {GgufEntry("token_embd.weight", {2, 1}, kF32, 0)},
                 .data = Raw<float>({1, 2})});
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    EXPECT_THAT(OpenGguf(folder_.Write("cut.gguf", whole.substr(0, size))), Invalid("cut.gguf: "));
  }
  EXPECT_THAT(OpenGguf(folder_.Write("cut.gguf", whole)), IsOk());
}

TEST_F(GgufTest, CountsThatTheFileCannotHoldAreInvalid) {
  EXPECT_THAT(Open({.extra_tensors = kHuge}), Invalid("byte 8: says 18446744073709551615 tensors"));
  EXPECT_THAT(Open({.extra_pairs = kHuge}), Invalid("byte 16: says 18446744073709551615 pairs of metadata"));
  EXPECT_THAT(Open({.data = std::string(10'000'000, '\0'), .extra_pairs = 200'000}), Invalid("or they exceed 131072"));
}

TEST_F(GgufTest, BadKeysAreInvalid) {
  EXPECT_THAT(Open({.pairs = {GgufPair("", 0, "x")}}), Invalid("a key must have 1 to 65535 bytes, got 0"));
  EXPECT_THAT(Open({.pairs = {LittleEndian(kHuge, 8) + "k" + LittleEndian(0, 4) + "x"}}),
              Invalid("a key must have 1 to 65535 bytes, got 18446744073709551615"));
  EXPECT_THAT(Open({.pairs = {LittleEndian(60'000, 8) + "k" + LittleEndian(0, 4) + "x"}}), Invalid("the file ends at"));
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 0, "x"), GgufPair("k", 0, "y")}}), Invalid(R"(key "k" stands twice)"));
}

TEST_F(GgufTest, BadValuesAreInvalid) {
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 13, "x")}, .data = "12345678"}),
              Invalid(R"(key "k" has the unknown type 13)"));
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 7, "\x02")}}), Invalid("a boolean must be 0 or 1, got 2"));
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 8, LittleEndian(kHuge, 8))}}), Invalid("the file ends at"));
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 9, LittleEndian(9, 4) + LittleEndian(1, 8))}}),
              Invalid(R"(key "k" is an array of arrays)"));
  EXPECT_THAT(Open({.pairs = {GgufPair("k", 9, LittleEndian(99, 4) + LittleEndian(1, 8))}}),
              Invalid(R"(key "k" has items of the unknown type 99)"));
  for (const std::uint32_t kind : {0u, 4u, 8u, 12u}) {
    EXPECT_THAT(Open({.pairs = {GgufPair("k", 9, LittleEndian(kind, 4) + LittleEndian(kHuge, 8))}}),
                Invalid(R"(key "k" has 18446744073709551615 items, which go beyond the file's end)"));
  }
}

TEST_F(GgufTest, UnknownTensorListsTenNamesAndTheirNumber) {
  GgufParts parts;
  for (std::uint64_t i = 0; i < 12; ++i) parts.tensors.push_back(GgufEntry(absl::StrCat("t", i), {0}, kF32, 0));

  EXPECT_THAT(Load(parts, "wte"), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                                 AllOf(HasSubstr(R"(no tensor "wte"; the file has "t0", "t1")"),
                                                       HasSubstr(R"("t9", … (12 in all))"))),
                                        ReasonIs("TENSOR_NOT_FOUND")));
}

TEST_F(GgufTest, BadAlignmentIsInvalid) {
  for (const std::uint32_t alignment : {0u, 13u, 33u}) {
    SCOPED_TRACE(alignment);
    EXPECT_THAT(Open({.pairs = {GgufPair("general.alignment", 4, LittleEndian(alignment, 4))}}),
                Invalid(absl::StrCat("general.alignment must be a power of two, got ", alignment)));
  }
  EXPECT_THAT(Open({.pairs = {GgufPair("general.alignment", 10, LittleEndian(32, 8))}}),
              Invalid("general.alignment must be a uint32, got the type 10"));
  EXPECT_THAT(Open({.pairs = {GgufPair("general.alignment", 8, GgufText("32"))}}),
              Invalid("general.alignment must be a uint32"));
}

TEST_F(GgufTest, BadTensorNamesAreInvalid) {
  EXPECT_THAT(Open({.tensors = {GgufEntry("", {1}, kF32, 0)}, .data = "1234"}),
              Invalid("a tensor's name must have 1 to 64 bytes, got 0"));
  EXPECT_THAT(Open({.tensors = {GgufEntry(std::string(65, 'n'), {1}, kF32, 0)}, .data = "1234"}),
              Invalid("a tensor's name must have 1 to 64 bytes, got 65"));
  EXPECT_THAT(Open({.tensors = {GgufEntry(std::string(64, 'n'), {1}, kF32, 0)}, .data = "1234"}), IsOk());
  EXPECT_THAT(
      Open({.tensors = {GgufEntry("a", {8}, kF32, 0), GgufEntry("a", {8}, kF32, 32)}, .data = std::string(64, '\0')}),
      Invalid(R"(tensor "a": the name stands twice)"));
}

TEST_F(GgufTest, BadShapesAreInvalid) {
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {1, 1, 1, 1, 1}, kF32, 0)}, .data = "1234"}),
              Invalid(R"(tensor "a": has 5 dimensions; there can be 4)"));
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {std::uint64_t{1} << 63}, kF32, 0)}, .data = "1234"}),
              Invalid(R"(tensor "a": a dimension exceeds 2^63 - 1)"));
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {std::uint64_t{1} << 32, std::uint64_t{1} << 32}, kF32, 0)}}),
              Invalid(R"(tensor "a": its shape takes more than)"));
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {std::uint64_t{1} << 62}, kF32, 0)}}),
              Invalid(R"(tensor "a": its shape takes more than)"));
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {33, 1}, kQ8_0, 0)}, .data = std::string(68, '\0')}),
              Invalid(R"(tensor "a": rows of 33 elements do not fill whole blocks of 32 Q8_0)"));
}

TEST_F(GgufTest, TensorWithoutElementsIsNoTable) {
  const GgufParts parts = {.tensors = {GgufEntry("token_embd.weight", {4, 0}, kF32, 0), GgufEntry("b", {1}, kF32, 0)},
                           .data = "1234"};

  EXPECT_THAT(Open(parts), IsOk());
  EXPECT_THAT(Load(parts), Invalid(R"(tensor "token_embd.weight": shape [4, 0] has no elements)"));
}

TEST_F(GgufTest, TensorOfOtherRankIsNoTable) {
  EXPECT_THAT(Load({.tensors = {GgufEntry("norm", {2}, kF32, 0)}, .data = std::string(8, '\0')}, "norm"),
              Invalid(R"(tensor "norm": its shape has 1 dimension; a table has 2)"));
}

TEST_F(GgufTest, UnknownAndGivenUpTypesAreInvalid) {
  for (const std::uint32_t type : {43u, 999u, 0xFFFFFFFFu}) {
    EXPECT_THAT(Open({.tensors = {GgufEntry("a", {32}, type, 0)}, .data = std::string(64, '\0')}),
                Invalid(absl::StrCat("tensor \"a\": type ", type, " is unknown")));
  }
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {32}, 4, 0)}, .data = std::string(64, '\0')}),
              Invalid(R"(tensor "a": type 4 (Q4_2) was given up)"));
}

struct OtherType {
  std::uint32_t number;
  std::string name;
  std::uint64_t bytes;  // of 256 values
};

void PrintTo(const OtherType& type, std::ostream* out) { *out << type.name; }

class GgufOtherType : public ::testing::TestWithParam<OtherType> {};

TEST_P(GgufOtherType, IsRefusedByNameOnlyWhereItIsWanted) {
  const ScratchFolder folder;
  const std::uint64_t next = (GetParam().bytes + 31) / 32 * 32;
  const std::string path =
      folder.Write("t.gguf", GgufBytes({.tensors = {GgufEntry("other", {256, 1}, GetParam().number, 0),
                                                    GgufEntry("token_embd.weight", {1, 1}, kF32, next)},
                                        .data = std::string(next, '\0') + Raw<float>({3})}));

  EXPECT_THAT(LoadTable({.path = path}), IsOk());
  EXPECT_THAT(
      LoadTable({.path = path, .tensor = "other"}),
      Unsupported(absl::StrCat("tensor \"other\": type ", GetParam().name, " is not served; F32, F16, BF16, Q4_0,")));
}

INSTANTIATE_TEST_SUITE_P(
    All, GgufOtherType,
    ::testing::Values(OtherType{3, "Q4_1", 160}, OtherType{6, "Q5_0", 176}, OtherType{7, "Q5_1", 192},
                      OtherType{9, "Q8_1", 288}, OtherType{10, "Q2_K", 84}, OtherType{11, "Q3_K", 110},
                      OtherType{13, "Q5_K", 176}, OtherType{15, "Q8_K", 292}, OtherType{16, "IQ2_XXS", 66},
                      OtherType{17, "IQ2_XS", 74}, OtherType{18, "IQ3_XXS", 98}, OtherType{19, "IQ1_S", 50},
                      OtherType{20, "IQ4_NL", 144}, OtherType{21, "IQ3_S", 110}, OtherType{22, "IQ2_S", 82},
                      OtherType{23, "IQ4_XS", 136}, OtherType{24, "I8", 256}, OtherType{25, "I16", 512},
                      OtherType{26, "I32", 1024}, OtherType{27, "I64", 2048}, OtherType{28, "F64", 2048},
                      OtherType{29, "IQ1_M", 56}, OtherType{34, "TQ1_0", 54}, OtherType{35, "TQ2_0", 66},
                      OtherType{39, "MXFP4", 136}, OtherType{40, "NVFP4", 144}, OtherType{41, "Q1_0", 36},
                      OtherType{42, "Q2_0", 72}),
    [](const ::testing::TestParamInfo<OtherType>& type) { return type.param.name; });

TEST_F(GgufTest, OffsetsMustFollowEachOther) {
  const auto two = [](std::uint64_t first, std::uint64_t second) {
    return GgufParts{.tensors = {GgufEntry("a", {8}, kF32, first), GgufEntry("b", {8}, kF32, second)},
                     .data = std::string(128, '\0')};
  };

  EXPECT_THAT(Open(two(0, 32)), IsOk());
  EXPECT_THAT(Open(two(0, 0)), Invalid(R"(tensor "b": offset 0 should be 32)"));
  EXPECT_THAT(Open(two(0, 33)), Invalid(R"(tensor "b": offset 33 should be 32)"));
  EXPECT_THAT(Open(two(0, 64)), Invalid(R"(tensor "b": offset 64 should be 32)"));
  EXPECT_THAT(Open(two(32, 0)), Invalid(R"(tensor "a": offset 32 should be 0)"));
  EXPECT_THAT(Open(two(0, kHuge - 31)), Invalid(R"(tensor "b": offset 18446744073709551584 should be 32)"));
}

TEST_F(GgufTest, OffsetsMustFitTheAlignmentOfTheFile) {
  const auto with_offset = [](std::uint64_t second) {
    return GgufParts{.pairs = {GgufPair("general.alignment", 4, LittleEndian(64, 4))},
                     .tensors = {GgufEntry("a", {8}, kF32, 0), GgufEntry("b", {8}, kF32, second)},
                     .data = std::string(128, '\0'),
                     .alignment = 64};
  };

  EXPECT_THAT(Open(with_offset(64)), IsOk());
  EXPECT_THAT(Open(with_offset(32)),
              Invalid("offset 32 should be 64, behind the tensor before it with an alignment of 64"));
}

TEST_F(GgufTest, MissingDataIsInvalid) {
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {8}, kF32, 0)}, .data = std::string(31, '\0')}),
              Invalid(R"(tensor "a": 32 bytes at 0 of the data)"));
  EXPECT_THAT(Open({.tensors = {GgufEntry("a", {std::uint64_t{1} << 60}, kF32, 0),
                                GgufEntry("b", {1}, kF32, std::uint64_t{1} << 62)}}),
              Invalid(R"(tensor "a": 4611686018427387904 bytes at 0 of the data)"));
}

// Writers may leave out the padding behind the last tensor.
TEST_F(GgufTest, LastTensorNeedsNoPadding) {
  EXPECT_THAT(Load({.tensors = {GgufEntry("token_embd.weight", {1, 1}, kF32, 0)}, .data = Raw<float>({1})}), IsOk());
}

TEST_F(GgufTest, MappingIsForTypesThatRestAsTheyAre) {
  ASSERT_OK_AND_ASSIGN(
      const LoadedTable mapped,
      Load({.tensors = {GgufEntry("t", {2, 1}, kF16, 0)}, .data = Raw<std::uint16_t>({0x3C00, 0x4000})}, "t", true));

  EXPECT_TRUE(mapped.table.mapped());
  EXPECT_EQ(ElementBits<std::uint16_t>(mapped.table), (std::vector<std::uint16_t>{0x3C00, 0x4000}));
  EXPECT_THAT(Load({.tensors = {GgufEntry("t", {32, 1}, kQ8_0, 0)}, .data = std::string(34, '\0')}, "t", true),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("mmap does not go with type Q8_0")),
                    ReasonIs("CANNOT_MAP")));
}

// Whatever single byte of a header is wrong: a table or an error, never more.
TEST_F(GgufTest, EveryDamagedByteOfAHeaderIsSurvived) {
  const std::string whole =
      GgufBytes({.pairs = {GgufPair("general.alignment", 4, LittleEndian(32, 4)),
                           GgufPair("k", 9, LittleEndian(8, 4) + LittleEndian(1, 8) + GgufText("v"))},
                 .tensors = {GgufEntry("token_embd.weight", {32, 2}, kQ8_0, 0)},
                 .data = std::string(68, '\1')});
  const std::size_t header = whole.size() - 68;
  int loaded = 0;
  for (std::size_t i = 0; i < header; ++i) {
    for (const char value : {'\0', '\1', '\x7F', '\xFF'}) {
      std::string damaged = whole;
      damaged[i] = value;
      const auto result = LoadTable({.path = folder_.Write("t.gguf", damaged)});
      if (!result.ok()) continue;
      ++loaded;
      EXPECT_LE(result->table.bytes().size(), 2u * 32 * 4);
    }
  }
  EXPECT_GT(loaded, 0);
}

}  // namespace
}  // namespace embd::formats
