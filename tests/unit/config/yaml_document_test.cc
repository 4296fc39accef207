#include "server/config/yaml_document.h"

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::config {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

auto Parse(absl::string_view text) { return ParseDocument(text, "f.yaml"); }

TEST(YamlDocument, KeepsKindsLinesAndQuotes) {
  ASSERT_OK_AND_ASSIGN(const auto root, Parse("a: 1\nb:\n  - \"x\"\n  - {}\nc:\n"));

  ASSERT_THAT(root->entries, SizeIs(3));
  EXPECT_EQ(root->entries[0].value->text, "1");
  EXPECT_FALSE(root->entries[0].value->quoted);
  ASSERT_THAT(root->entries[1].value->items, SizeIs(2));
  EXPECT_EQ(root->entries[1].value->items[0]->line, 3);
  EXPECT_TRUE(root->entries[1].value->items[0]->quoted);
  EXPECT_EQ(root->entries[1].value->items[1]->kind, Node::Kind::kMap);
  EXPECT_EQ(root->entries[2].value->kind, Node::Kind::kNothing);
  EXPECT_EQ(root->entries[2].value->line, 5);
}

TEST(YamlDocument, EmptyTextAndCommentsAreNothing) {
  for (const char* text : {"", "\n", "# nothing\n", "---\n", "--- ~\n"}) {
    ASSERT_OK_AND_ASSIGN(const auto root, Parse(text));
    EXPECT_EQ(root->kind, Node::Kind::kNothing) << text;
  }
}

TEST(YamlDocument, ReadsJsonWithTabsAndWindowsLines) {
  ASSERT_OK_AND_ASSIGN(const auto root, Parse("{\r\n\t\"a\":\t[1, \"b\\u00e4\"],\r\n\t\"c\": null\r\n}\r\n"));

  ASSERT_THAT(root->entries, SizeIs(2));
  EXPECT_EQ(root->entries[0].value->items[1]->text, "b\xc3\xa4");
  EXPECT_EQ(root->entries[1].value->kind, Node::Kind::kNothing);
}

TEST(YamlDocument, EscapesAreTheCharactersThatTheyName) {
  ASSERT_OK_AND_ASSIGN(const auto root, Parse(R"("\N\_\L\P\x85\xe9\u0085\U0001F600 ä")"));

  EXPECT_EQ(root->text, "\u0085\u00a0\u2028\u2029\u0085\u00e9\u0085\U0001F600 \u00e4");
}

TEST(YamlDocument, AliasSharesTheNodeOfItsAnchor) {
  ASSERT_OK_AND_ASSIGN(const auto root, Parse("a: &x {k: v}\nb: *x\n"));

  EXPECT_EQ(root->entries[0].value, root->entries[1].value);
}

TEST(YamlDocument, BadSyntaxNamesLineColumnAndReason) {
  const auto result = Parse("a: 1\nb: c: d\n");

  EXPECT_THAT(result, StatusIs(kInvalid, StartsWith("f.yaml:2:5: bad YAML: ")));
  EXPECT_THAT(result, ReasonIs("INVALID_CONFIG"));
}

TEST(YamlDocument, ReasonHoldsNoHalvesOfCharacters) {
  EXPECT_THAT(Parse("\"\\\xc3\xa4\""), StatusIs(kInvalid, HasSubstr("unknown escape character: \\xc3")));
}

TEST(YamlDocument, AliasWithinItsOwnAnchorIsRefused) {
  EXPECT_THAT(Parse("a:\n  &x [*x]\n"), StatusIs(kInvalid, "f.yaml:2: an alias stands within its own anchor"));
}

TEST(YamlDocument, AliasWithoutAnchorIsRefused) {
  EXPECT_THAT(Parse("a: *x\n"), StatusIs(kInvalid, StartsWith("f.yaml:1:4: ")));
}

TEST(YamlDocument, SecondDocumentIsRefused) {
  EXPECT_THAT(Parse("a: 1\n---\nb: 2\n"), StatusIs(kInvalid, AllOf(StartsWith("f.yaml:2: "), HasSubstr("second"))));
}

TEST(YamlDocument, TagIsRefused) {
  EXPECT_THAT(Parse("a: !!int 5\n"),
              StatusIs(kInvalid, AllOf(StartsWith("f.yaml:1: tags are not allowed"), HasSubstr("int"))));
}

TEST(YamlDocument, KeyThatIsNoWordIsRefused) {
  EXPECT_THAT(Parse("a: 1\n? [b]\n: c\n"), StatusIs(kInvalid, "f.yaml:2: a key must be a word"));
}

TEST(YamlDocument, NestingOf64LevelsIsTheDeepest) {
  EXPECT_THAT(Parse(std::string(64, '[') + std::string(64, ']')), testing::IsOk());
  EXPECT_THAT(Parse(std::string(65, '[') + std::string(65, ']')),
              StatusIs(kInvalid, "f.yaml:1: nested more than 64 levels deep"));
}

// Each would take the stack, or the memory, of a reader that follows them.
TEST(YamlDocument, EndlessNestingOfEveryKindIsRefused) {
  for (const char* level : {"[", "{", "- ", "? ", "{a: ", "[a: ", "&x [", "{[", "- ? "}) {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += level;
    EXPECT_THAT(Parse(text), StatusIs(kInvalid, StartsWith("f.yaml:"))) << level;
  }
}

TEST(YamlDocument, AliasesOfAliasesCostNothing) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 1000; ++i) absl::StrAppend(&text, "a", i, ": &a", i, " [*a", i - 1, ", *a", i - 1, "]\n");

  ASSERT_OK_AND_ASSIGN(const auto root, Parse(text));

  EXPECT_THAT(root->entries, SizeIs(1000));
}

TEST(YamlDocument, MoreThanAMillionValuesAreRefused) {
  std::string text = "[";
  for (int i = 0; i < 1'000'000; ++i) text += "a,";
  EXPECT_THAT(Parse(text + "]"), StatusIs(kInvalid, "f.yaml:1: more than 1000000 values"));
}

TEST(YamlDocument, TextOver16MiBIsRefused) {
  EXPECT_THAT(Parse(std::string((16 << 20) + 1, ' ')), StatusIs(kInvalid, "f.yaml: must be at most 16 MiB"));
}

// The parser takes 0x04 for the end of the text and would drop what follows.
TEST(YamlDocument, ControlCharacterIsRefused) {
  EXPECT_THAT(Parse("a: 1\n\x04"
                    "b: 2\n"),
              StatusIs(kInvalid, "f.yaml:2: must be text, got the control character 0x04"));
}

}  // namespace
}  // namespace embd::config
