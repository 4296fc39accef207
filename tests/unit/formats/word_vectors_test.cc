#include "server/formats/word_vectors.h"

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<WordVectors> LoadText(absl::string_view text, bool keep_words = true) {
  const ScratchFolder folder;
  const auto file = FileReader::Open(folder.Write("words.txt", text));
  if (!file.ok()) return file.status();
  return LoadWordVectors(*file, keep_words);
}

std::vector<std::string> Words(const WordVectors& vectors) {
  std::vector<std::string> words;
  for (std::int64_t id = 0; id < vectors.words->size(); ++id) words.emplace_back(vectors.words->word(id));
  return words;
}

TEST(WordVectors, GloveHasNoFirstLineOfItsOwn) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors, LoadText("the 0.418 -1e-3\n, 2 3.5\n"));

  EXPECT_EQ(vectors.table.rows(), 2);
  EXPECT_EQ(vectors.table.dim(), 2);
  EXPECT_EQ(vectors.table.element_type(), core::ElementType::kFloat32);
  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table), FloatBits({0.418f, -1e-3f, 2, 3.5f}));
  EXPECT_THAT(Words(vectors), ElementsAre("the", ","));
}

TEST(WordVectors, Word2VecBeginsWithItsNumbers) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors, LoadText("2 3\n</s> 1 2 3 \nking 4 5 6 \n"));

  EXPECT_EQ(vectors.table.rows(), 2);
  EXPECT_EQ(vectors.table.dim(), 3);
  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table), FloatBits({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(Words(vectors), ElementsAre("</s>", "king"));
}

TEST(WordVectors, LinesMayEndWithCrLfAndTheLastWithTheFile) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors, LoadText("1 2\r\na 1 2"));
  ASSERT_OK_AND_ASSIGN(const WordVectors twin, LoadText("a 1 2\r\nb 3 4\r\n"));

  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table), FloatBits({1, 2}));
  EXPECT_EQ(ElementBits<std::uint32_t>(twin.table), FloatBits({1, 2, 3, 4}));
}

TEST(WordVectors, TabsAndRunsOfSpacesSeparateNumbers) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors, LoadText("a\t1\t 2\nb 3  4\t\n"));

  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table), FloatBits({1, 2, 3, 4}));
  EXPECT_THAT(Words(vectors), ElementsAre("a", "b"));
}

TEST(WordVectors, LastFieldsAreTheNumbersSoWordsMayHoldSpacesAndNumbers) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors,
                       LoadText("the 1 2\n. . . 3 4\nat name@domain.com 5 6\n1 2 3 7 8\n  9 10\n"));

  EXPECT_THAT(Words(vectors), ElementsAre("the", ". . .", "at name@domain.com", "1 2 3", " "));
  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table), FloatBits({1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(WordVectors, WordsMayBeEmptyOrAnyBytes) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors,
                       LoadText(absl::string_view("\xC2\xA0 1 2\n\xFF\xFE 3 4\n\0 5 6\n 7 8\n", 25)));

  EXPECT_THAT(Words(vectors), ElementsAre("\xC2\xA0", "\xFF\xFE", std::string(1, '\0'), ""));
}

TEST(WordVectors, NumbersAreRoundedOnceAndSpecialOnesKept) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors,
                       LoadText("a 0.1 1e-45 -1e-60 inf -inf 16777217 -0 3.4028235e38 1. 7.1e-46 1e-44 5e-1\n"));

  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table),
            FloatBits({0.1f, 1e-45f, -0.0f, kInfinity, -kInfinity, 16777216.0f, -0.0f, 3.4028235e38f, 1.0f, 1e-45f,
                       1e-44f, 0.5f}));
}

TEST(WordVectors, BlankLinesMayStandAtTheEnd) {
  ASSERT_OK_AND_ASSIGN(const WordVectors glove, LoadText("a 1 2\nb 3 4\n\n \r\n"));
  ASSERT_OK_AND_ASSIGN(const WordVectors word2vec, LoadText("2 2\na 1 2\nb 3 4\n\n"));

  EXPECT_THAT(Words(glove), ElementsAre("a", "b"));
  EXPECT_THAT(Words(word2vec), ElementsAre("a", "b"));
}

TEST(WordVectors, NumbersMayHaveAPlusSign) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors, LoadText("a +1.5 +1e-60\n"));

  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table), FloatBits({1.5f, 0.0f}));
}

TEST(WordVectors, NanIsANumberHere) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors, LoadText("a nan 1\n"));

  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table).front() & 0x7F800000u, 0x7F800000u);
}

TEST(WordVectors, WordsAreLeftOutWhereNobodyWantsThem) {
  ASSERT_OK_AND_ASSIGN(const WordVectors vectors, LoadText("a 1\nb 2\n", /*keep_words=*/false));

  EXPECT_FALSE(vectors.words.has_value());
  EXPECT_EQ(ElementBits<std::uint32_t>(vectors.table), FloatBits({1, 2}));
}

struct Case {
  std::string name;
  std::string text;
  std::string message;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class WordVectorsRefused : public ::testing::TestWithParam<Case> {};

TEST_P(WordVectorsRefused, WithTheLine) {
  EXPECT_THAT(
      LoadText(GetParam().text),
      AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)), ReasonIs("INVALID_FILE")));
}

INSTANTIATE_TEST_SUITE_P(
    All, WordVectorsRefused,
    ::testing::Values(
        Case{"EmptyFile", "", "line 1: the file is empty"},
        Case{"OnlyWords", "the\nking\n", "line 1: expected a word and its numbers"},
        Case{"EmptyFirstLine", "\nthe 1 2\n", "line 1: expected a word and its numbers"},
        Case{"EmptyLineBetween", "a 1 2\n\nb 3 4\n", "line 2: expected a word and 2 numbers, got fewer"},
        Case{"TooFewNumbers", "a 1 2 3\nb 1 2\n", "line 2: expected a word and 3 numbers, got fewer"},
        Case{"NumbersWithoutAWord", "a 1 2 3\n1 2 3\n", "line 2: expected a word and 3 numbers, got fewer"},
        Case{"TooFewAfterTheFirstLine", "2 3\na 1 2 3\nb 1 2\n", "line 3: expected a word and 3 numbers, got fewer"},
        Case{"NoNumber", "a 1 x 3\nb 1 2 3\n", R"(line 1: number 2 of 3: "x" is no number)"},
        Case{"NumberWithTextBehind", "a 1 2\nb 3 4f\n", R"(line 2: number 2 of 2: "4f" is no number)"},
        Case{"Hexadecimal", "a 1\nb 0x10\n", R"(line 2: number 1 of 1: "0x10" is no number)"},
        Case{"DecimalComma", "a 1\nb 1,5\n", R"("1,5" is no number)"},
        Case{"TwoSigns", "a +-1\n", R"("+-1" is no number)"}, Case{"NoExponent", "a 1e\n", R"("1e" is no number)"},
        Case{"LongJunk", "a 1\nb " + std::string(5000, 'x'), "…\""},
        Case{"BinaryOfWord2Vec", std::string("2 3\nking \0\0\x80?\0\0\0@\n\0\0\n", 21),
             "line 2: expected a word and 3 numbers, got fewer"},
        Case{"OnlyBlanks", "  \n\t\n", "line 1: expected a word and its numbers"},
        Case{"ZeroByteInANumber", std::string("a 1\nb 2\0\n", 9), "line 2: number 1 of 1: "},
        Case{"SpacesThatAreNotAscii",
             "a\xC2\xA0"
             "1\n",
             "line 1: expected a word and its numbers"},
        Case{"LineOf16MiB", "a 1\nb " + std::string(16 << 20, '1'), "line 2: has 16777216 bytes or more"},
        Case{"RowsAndNumbersWhoseProductOverflows", "9223372036854775807 9223372036854775807\na 1\n",
             "line 1: says 9223372036854775807 words, the file has 1"},
        Case{"BeyondFloat32", "a 1\nb 1e39\n", R"(line 2: number 1 of 1: "1e39" exceeds the range of float32)"},
        Case{"BeyondFloat64", "a -1e400\n", R"("-1e400" exceeds the range of float32)"},
        Case{"FewerWordsThanSaid", "3 2\na 1 2\nb 1 2\n", "line 1: says 3 words, the file has 2"},
        Case{"MoreWordsThanSaid", "1 2\na 1 2\nb 1 2\n", "line 1: says 1 word, the file has 2"},
        Case{"NoWordsSaid", "0 2\n", "line 1: says 0 words of 2 numbers"},
        Case{"NoNumbersSaid", "1 0\na\n", "line 1: says 1 word of 0 numbers"},
        Case{"OnlyTheFirstLine", "5 2\n", "line 1: says 5 words, the file has 0"},
        Case{"DimensionFarTooLarge", "1 9223372036854775807\na 1\n", "line 1: says 9223372036854775807 numbers a line"},
        Case{"DimensionOneTooLarge", "2 3\na 1 2\nb 1 2\n", "line 2: expected a word and 3 numbers, got fewer"},
        Case{"ByteOrderMark",
             "\xEF\xBB\xBF"
             "1 2\na 1 2\n",
             "line 1: begins with a byte order mark"}),
    NameOf);

}  // namespace
}  // namespace embd::formats
