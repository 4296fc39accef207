#include "server/formats/vocabulary_file.h"

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Loader = absl::StatusOr<core::Vocabulary> (*)(const FileReader&, std::int64_t);

absl::StatusOr<core::Vocabulary> LoadText(Loader load, absl::string_view text, std::int64_t rows) {
  const ScratchFolder folder;
  const auto file = FileReader::Open(folder.Write("vocabulary", text));
  if (!file.ok()) return file.status();
  return load(*file, rows);
}

std::vector<std::string> Words(const core::Vocabulary& vocabulary) {
  std::vector<std::string> words;
  for (std::int64_t id = 0; id < vocabulary.size(); ++id) words.emplace_back(vocabulary.word(id));
  return words;
}

TEST(VocabularyLines, LineNamesItsRow) {
  ASSERT_OK_AND_ASSIGN(const auto words, LoadText(LoadVocabularyLines, "the\r\n two words \n\n\xFF\n", 4));
  ASSERT_OK_AND_ASSIGN(const auto twin, LoadText(LoadVocabularyLines, "a\nb", 2));

  EXPECT_THAT(Words(words), ElementsAre("the", " two words ", "", "\xFF"));
  EXPECT_THAT(Words(twin), ElementsAre("a", "b"));
}

TEST(VocabularyLines, WordsThatStandTwiceAreCountedNotRefused) {
  ASSERT_OK_AND_ASSIGN(const auto words, LoadText(LoadVocabularyLines, "a\nb\na\n", 3));

  EXPECT_EQ(words.duplicate_words(), 1);
}

TEST(VocabularyJson, ArrayNamesRowsInOrder) {
  ASSERT_OK_AND_ASSIGN(const auto words, LoadText(LoadVocabularyJson, R"( ["the", "\u00e9\n", ""] )", 3));

  EXPECT_THAT(Words(words), ElementsAre("the", "\xC3\xA9\n", ""));
}

TEST(VocabularyJson, ObjectGivesEveryWordItsId) {
  ASSERT_OK_AND_ASSIGN(const auto words, LoadText(LoadVocabularyJson, R"({"c":2,"a":0,"\u0120b":1})", 3));

  EXPECT_THAT(Words(words), ElementsAre("a",
                                        "\xC4\xA0"
                                        "b",
                                        "c"));
  EXPECT_EQ(words.Find("c"), 2);
}

struct Case {
  std::string name;
  Loader load;
  std::string text;
  std::string message;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class VocabularyRefused : public ::testing::TestWithParam<Case> {};

// All of them for a table of two rows.
TEST_P(VocabularyRefused, WithItsReason) {
  EXPECT_THAT(
      LoadText(GetParam().load, GetParam().text, 2),
      AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(GetParam().message)), ReasonIs("INVALID_FILE")));
}

INSTANTIATE_TEST_SUITE_P(
    All, VocabularyRefused,
    ::testing::Values(
        Case{"TooFewLines", LoadVocabularyLines, "a\n", "has 1 word, the table has 2 rows"},
        Case{"TooManyLines", LoadVocabularyLines, "a\nb\nc\nd", "has 4 words, the table has 2 rows"},
        Case{"EmptyLineAtTheEnd", LoadVocabularyLines, "a\nb\n\n", "has 3 words, the table has 2 rows"},
        Case{"NoLines", LoadVocabularyLines, "", "has 0 words, the table has 2 rows"},
        Case{"ByteOrderMark", LoadVocabularyLines,
             "\xEF\xBB\xBF"
             "a\nb\n",
             "line 1: begins with a byte order mark"},
        Case{"LineOf16MiB", LoadVocabularyLines, "a\n" + std::string(16 << 20, 'x'),
             "line 2: has 16777216 bytes or more"},
        Case{"TooFewInObject", LoadVocabularyJson, R"({"a":0})", "has 1 word, the table has 2 rows"},
        Case{"TooFewInArray", LoadVocabularyJson, R"(["a"])", "has 1 word, the table has 2 rows"},
        Case{"TooManyInArray", LoadVocabularyJson, R"(["a","b","c"])", "has 3 words, the table has 2 rows"},
        Case{"TooManyInObject", LoadVocabularyJson, R"({"a":0,"b":1,"c":2})", "has 3 words, the table has 2 rows"},
        Case{"EmptyObject", LoadVocabularyJson, "{}", "has 0 words, the table has 2 rows"},
        Case{"EmptyJson", LoadVocabularyJson, "", "byte 0: the text is not valid JSON"},
        Case{"BrokenJson", LoadVocabularyJson, R"(["a",])", "byte 5: the text is not valid JSON"},
        Case{"ZeroByte", LoadVocabularyJson, std::string("[\"a\",\"b\"]\0", 10), "byte 9: the text is not valid JSON"},
        Case{"NotUtf8", LoadVocabularyJson, "[\"a\",\"\xFF\"]", "byte 6: the text is not valid JSON"},
        Case{"JsonByteOrderMark", LoadVocabularyJson, "\xEF\xBB\xBF[]",
             "byte 0: the text is not valid JSON: a byte order"},
        Case{"SecondArray", LoadVocabularyJson, R"(["a","b"][])", "byte 9: the text is not valid JSON"},
        Case{"JsonNull", LoadVocabularyJson, "null", "must be an array of words or an object of word -> id, got null"},
        Case{"JsonString", LoadVocabularyJson, R"("a")", "must be an array of words or an object of word -> id, got a"},
        Case{"NumberInArray", LoadVocabularyJson, R"(["a",1])", "[1] must be a word, got a number"},
        Case{"NullInArray", LoadVocabularyJson, R"(["a",null])", "[1] must be a word, got null"},
        Case{"TruthInArray", LoadVocabularyJson, "[true,false]", "[0] must be a word, got true or false"},
        Case{"ObjectInArray", LoadVocabularyJson, R"(["a",{"id":1}])", "[1] must be a word, got an object"},
        Case{"ArrayInArray", LoadVocabularyJson, R"([["a",0],["b",1]])", "[0] must be a word, got an array"},
        Case{"StringForId", LoadVocabularyJson, R"({"a":"0","b":1})",
             R"(the id of "a" must be a whole number, got a string)"},
        Case{"NegativeId", LoadVocabularyJson, R"({"a":-1,"b":1})",
             R"(the id of "a" must be a whole number, got a negative number)"},
        Case{"FractionForId", LoadVocabularyJson, R"({"a":0.0,"b":1})", R"(the id of "a" must be a whole number)"},
        Case{"NullForId", LoadVocabularyJson, R"({"a":0,"b":null})",
             R"(the id of "b" must be a whole number, got null)"},
        Case{"ArrayForId", LoadVocabularyJson, R"({"a":0,"b":[1]})",
             R"(the id of "b" must be a whole number, got an array)"},
        Case{"IdBeyond64Bits", LoadVocabularyJson, R"({"a":0,"b":18446744073709551616})",
             R"(the id of "b" must be a whole number, got a number with a fraction)"},
        Case{"LargestId", LoadVocabularyJson, R"({"a":0,"b":18446744073709551615})",
             R"(the id of "b" is 18446744073709551615, outside [0, 2))"},
        Case{"ObjectForId", LoadVocabularyJson, R"({"model":{"vocab":{}}})",
             R"(the id of "model" must be a whole number, got an object)"},
        Case{"IdTwice", LoadVocabularyJson, R"({"a":1,"b":1})", R"("a" and "b" both have the id 1)"},
        Case{"IdOutside", LoadVocabularyJson, R"({"a":0,"b":2})", R"(the id of "b" is 2, outside [0, 2))"},
        Case{"DeepNesting", LoadVocabularyJson, std::string(100'000, '['), "[0] must be a word, got an array"}),
    NameOf);

TEST(VocabularyJson, MoreThan512MiBAreRefusedUnread) {
  const ScratchFolder folder;
  const std::string path = folder.Write("vocabulary", "[]");
  std::filesystem::resize_file(path, (std::uintmax_t{512} << 20) + 1);
  ASSERT_OK_AND_ASSIGN(const FileReader file, FileReader::Open(path));

  EXPECT_THAT(LoadVocabularyJson(file, 2),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             "has 536870913 bytes, a vocabulary in JSON may have 536870912"),
                    ReasonIs("INVALID_FILE")));
}

}  // namespace
}  // namespace embd::formats
