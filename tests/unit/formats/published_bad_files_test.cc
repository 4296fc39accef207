// What the tests of safetensors, numpy and llama.cpp refuse or take beyond the rules of the format's own test here. The
// files are made here; tests/cases/bad_files.yaml lists them by the names that those projects give them.
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
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
using ::testing::StartsWith;

constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kI8 = 24;
constexpr std::uint64_t kHuge = ~std::uint64_t{0};

class PublishedFileTest : public ::testing::Test {
 protected:
  // Loads a file of that name and those bytes.
  absl::StatusOr<LoadedTable> Load(const std::string& name, const std::string& bytes, const std::string& tensor = "",
                                   bool mmap = false) {
    return LoadTable({.path = folder_.Write(name, bytes), .tensor = tensor, .mmap = mmap});
  }

  // INVALID_ARGUMENT [INVALID_FILE], with the file's path before that message.
  auto Invalid(const std::string& name, const std::string& message) const {
    return AllOf(
        StatusIs(absl::StatusCode::kInvalidArgument, AllOf(StartsWith(folder_.Path(name) + ": "), HasSubstr(message))),
        ReasonIs("INVALID_FILE"));
  }

  ScratchFolder folder_;
};

using PublishedSafetensors = PublishedFileTest;

TEST_F(PublishedSafetensors, HeaderThatEndsHalfWayIsRefused) {
  const std::string header = Header({Entry("a", "F32", "[3,4]", 0, 48), Entry("b", "I64", "[5]", 48, 88)});

  EXPECT_THAT(Load("t.safetensors", SafetensorsFile(header, "").substr(0, 8 + header.size() / 2)),
              Invalid("t.safetensors", absl::StrCat("byte 0: a header of ", header.size(), " bytes goes beyond")));
}

TEST_F(PublishedSafetensors, OffsetsOfFourMiBInAFileOfOneByteAreRefused) {
  EXPECT_THAT(Load("t.safetensors", SafetensorsFile(Header({Entry("a", "F32", "[1024,1024]", 0, 4'194'304)}), "x")),
              Invalid("t.safetensors", "the tensors take 4194304 bytes of data, the file holds 1"));
}

TEST_F(PublishedSafetensors, OffsetsThatWrapAroundTheFileAreRefused) {
  const std::string entry = Entry("a", "F32", "[2,2]", kHuge - 16, kHuge);

  EXPECT_THAT(
      Load("t.safetensors", SafetensorsFile(Header({entry}), std::string(16, '\0'))),
      Invalid("t.safetensors", "tensor \"a\": data_offsets [18446744073709551599, 18446744073709551615] leave"));
}

TEST_F(PublishedSafetensors, HeaderOfJustTheLimitIsRead) {
  constexpr std::size_t kLimit = 100'000'000;
  std::string header = Header({Entry("a", "F32", "[1,2]", 0, 8)});
  header.resize(kLimit, ' ');

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("t.safetensors", SafetensorsFile(header, Raw<float>({1, 2}))));

  EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({1, 2}));
}

TEST_F(PublishedSafetensors, NameIsWhatItsEscapesSpell) {
  for (const auto& [written, spelled] :
       std::vector<std::pair<std::string, std::string>>{{R"(\u00e9)", "\xC3\xA9"},
                                                        {R"(\ud83d\ude00)", "\xF0\x9F\x98\x80"},
                                                        {R"(\u0061)", "a"},
                                                        {R"(\"\\\/\b\f\n\r\t)", "\"\\/\b\f\n\r\t"}}) {
    SCOPED_TRACE(written);
    const std::string bytes = SafetensorsFile(
        Header({Entry(written, "F32", "[1,1]", 0, 4), Entry("other", "F32", "[1,1]", 4, 8)}), Raw<float>({7, 8}));

    ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("t.safetensors", bytes, spelled));

    EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({7}));
  }
}

TEST_F(PublishedSafetensors, UnfinishedEscapeIsNoJson) {
  for (const std::string name : {R"(\u12)", R"(\ux000)", R"(\x41)", R"(\ud83d)", R"(\ude00)"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(Load("t.safetensors", SafetensorsFile(Header({Entry(name, "F32", "[1,1]", 0, 4)}), Raw<float>({1}))),
                Invalid("t.safetensors", ": the text is not valid JSON"));
  }
}

// As syoyo/safetensors-cpp has one to read back.
TEST_F(PublishedSafetensors, TwoTablesOfFloat64AreReadByName) {
  std::vector<double> values(8 * 8 + 16 * 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 3;
  const std::string bytes = SafetensorsFile(
      Header({Entry("weight0", "F64", "[8,8]", 0, 512), Entry("weight1", "F64", "[16,16]", 512, 2560)}), Raw(values));

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("t.safetensors", bytes, "weight1"));

  EXPECT_EQ(loaded.table.rows(), 16);
  std::vector<std::uint64_t> expected(16 * 16);
  std::memcpy(expected.data(), values.data() + 64, expected.size() * sizeof(double));
  EXPECT_EQ(ElementBits<std::uint64_t>(loaded.table), expected);
}

using PublishedNpy = PublishedFileTest;

TEST_F(PublishedNpy, PickledObjectsAreNeverLookedInto) {
  const std::string pickle = std::string(
      "\x80\x02"
      "cos\nsystem\nU\x04true\x85R.",
      22);
  for (const std::string descr : {"'O'", "'|O'", "'|O4'", "'|O8'"}) {
    SCOPED_TRACE(descr);
    EXPECT_THAT(Load("t.npy", NpyFile(NpyDict(descr, "(1, 1)"), pickle)),
                AllOf(StatusIs(absl::StatusCode::kUnimplemented,
                               AllOf(StartsWith(folder_.Path("t.npy") + ": byte 20: dtype "), HasSubstr("not served"))),
                      ReasonIs("UNSUPPORTED_FORMAT")));
  }
}

TEST_F(PublishedNpy, ArchivesAndPicklesAreNamedByTheirEnding) {
  for (const std::string ending : {".npz", ".pt", ".pth", ".pkl", ".ckpt", ".h5", ".msgpack", ".parquet", ".zip"}) {
    SCOPED_TRACE(ending);
    EXPECT_THAT(
        Load("t" + ending, "PK\x03\x04"),
        AllOf(StatusIs(absl::StatusCode::kUnimplemented,
                       StartsWith(absl::StrCat(folder_.Path("t" + ending), ": the ending \"", ending, "\" is"))),
              ReasonIs("UNSUPPORTED_FORMAT")));
  }
}

// numpy pads its header so that the data begin at a multiple of 64, with room for the first dimension to grow.
TEST_F(PublishedNpy, DataBeginWhereTheHeaderEndsHoweverItIsPadded) {
  for (const int major : {1, 2, 3}) {
    for (const std::size_t padding : {0u, 1u, 21u, 63u, 64u, 20'000u}) {
      SCOPED_TRACE(absl::StrCat("version ", major, ", ", padding, " spaces"));
      std::string dict = NpyDict("'<f4'", "(2, 1)");
      dict.insert(dict.size() - 1, padding, ' ');

      ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("t.npy", NpyFile(dict, Raw<float>({1, 2}), major)));

      EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({1, 2}));
    }
  }
}

TEST_F(PublishedNpy, PaddedHeaderMakesRowsThatCanBeMapped) {
  std::string dict = NpyDict("'<f4'", "(2, 1)");
  dict.insert(dict.size() - 1, 64 - (10 + dict.size()) % 64, ' ');

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("t.npy", NpyFile(dict, Raw<float>({1, 2})), "", true));

  EXPECT_TRUE(loaded.table.mapped());
}

TEST_F(PublishedNpy, HeaderOfTheSizeThatVersionOneCanSayIsRead) {
  std::string dict = NpyDict("'<f4'", "(2, 1)");
  dict.resize(65'535, ' ');

  EXPECT_THAT(Load("t.npy", NpyFile(dict, Raw<float>({1, 2}))), IsOk());
}

using PublishedGguf = PublishedFileTest;

TEST_F(PublishedGguf, LengthOfANameBeyondTheFileIsRefused) {
  for (const std::uint64_t length : {kHuge, kHuge - 7, std::uint64_t{1} << 60, std::uint64_t{65}}) {
    const std::string entry = LittleEndian(length, 8) + GgufEntry("a", {1}, kF32, 0).substr(8);

    EXPECT_THAT(Load("t.gguf", GgufBytes({.tensors = {entry}, .data = "1234"})),
                Invalid("t.gguf", absl::StrCat("byte 24: a tensor's name must have 1 to 64 bytes, got ", length)));
  }
  const std::string entry = LittleEndian(64, 8) + GgufEntry("a", {1}, kF32, 0).substr(8);
  EXPECT_THAT(Load("t.gguf", GgufBytes({.tensors = {entry}, .data = "1234"})), Invalid("t.gguf", "byte 32: the file"));
}

TEST_F(PublishedGguf, DimensionsBeyondFourAreRefusedWhateverTheirNumber) {
  for (const std::uint32_t rank : {5u, 0x80000000u, 0xFFFFFFFFu}) {
    const std::string entry = GgufText("a") + LittleEndian(rank, 4) + std::string(52, '\1');

    EXPECT_THAT(Load("t.gguf", GgufBytes({.tensors = {entry}, .data = "1234"})),
                Invalid("t.gguf", absl::StrCat("byte 24: tensor \"a\": has ", rank, " dimensions; there can be 4")));
  }
}

TEST_F(PublishedGguf, AlignmentOfThirteenIsRefusedWithItsTensorsAndData) {
  const GgufParts parts = {.pairs = {GgufPair("general.alignment", 4, LittleEndian(13, 4))},
                           .tensors = {GgufEntry("a", {2, 1}, kF32, 0), GgufEntry("b", {2, 1}, kF32, 13)},
                           .data = std::string(21, '\0'),
                           .alignment = 13};

  EXPECT_THAT(Load("t.gguf", GgufBytes(parts)), Invalid("t.gguf", "general.alignment must be a power of two, got 13"));
}

// A file of an alignment of 1: three bytes, and behind them rows that lie between multiples of their element's size.
GgufParts Unaligned(std::uint64_t second_offset) {
  return {.pairs = {GgufPair("general.alignment", 4, LittleEndian(1, 4))},
          .tensors = {GgufEntry("a", {3}, kI8, 0), GgufEntry("token_embd.weight", {1, 2}, kF32, second_offset)},
          .data = "xyz" + Raw<float>({1, 2}),
          .alignment = 1};
}

TEST_F(PublishedGguf, AlignmentOfOneLeavesNoGap) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("t.gguf", GgufBytes(Unaligned(3))));

  EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), FloatBits({1, 2}));
}

TEST_F(PublishedGguf, OffsetsOfAnotherAlignmentThanTheFilesAreRefused) {
  EXPECT_THAT(Load("t.gguf", GgufBytes(Unaligned(32))),
              Invalid("t.gguf",
                      "tensor \"token_embd.weight\": offset 32 should be 3, behind the tensor before it with "
                      "an alignment of 1"));
}

TEST_F(PublishedGguf, DataThatBeginAtAnotherAlignmentThanTheFilesAreRefused) {
  GgufParts parts = {.pairs = {GgufPair("general.alignment", 4, LittleEndian(1024, 4))},
                     .tensors = {GgufEntry("token_embd.weight", {1, 2}, kF32, 0)},
                     .data = Raw<float>({1, 2}),
                     .alignment = 32};
  EXPECT_THAT(Load("t.gguf", GgufBytes(parts)),
              Invalid("t.gguf", "8 bytes at 0 of the data, which begins at 1024, go beyond the file's "));

  parts.alignment = 1024;
  EXPECT_THAT(Load("t.gguf", GgufBytes(parts)), IsOk());
}

// Each size is one that a file could have; their sum is not.
TEST_F(PublishedGguf, SizesWhoseSumOverflowsAreRefused) {
  const std::uint64_t half = std::uint64_t{1} << 61;
  GgufParts parts;
  for (std::uint64_t i = 0; i < 4; ++i) {
    parts.tensors.push_back(GgufEntry(absl::StrCat("t", i), {half - 8}, kF32, i * 4 * (half - 8)));
  }

  EXPECT_THAT(Load("t.gguf", GgufBytes(parts)),
              Invalid("t.gguf", absl::StrCat("tensor \"t0\": ", 4 * (half - 8), " bytes at 0 of the data")));
}

}  // namespace
}  // namespace embd::formats
