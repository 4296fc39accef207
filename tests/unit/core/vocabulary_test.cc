#include "server/core/table/vocabulary.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::core {
namespace {

TEST(Vocabulary, FindsEveryWordAndNoOther) {
  Vocabulary::Builder builder;
  for (int i = 0; i < 10'000; ++i) builder.Add(absl::StrCat("word", i));
  ASSERT_OK_AND_ASSIGN(const Vocabulary vocabulary, std::move(builder).Build());

  EXPECT_EQ(vocabulary.size(), 10'000);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(vocabulary.Find(absl::StrCat("word", i)), i);
    ASSERT_EQ(vocabulary.word(i), absl::StrCat("word", i));
  }
  EXPECT_EQ(vocabulary.Find("word10000"), std::nullopt);
  EXPECT_EQ(vocabulary.Find(""), std::nullopt);
}

TEST(Vocabulary, WordThatStandsTwiceIsFoundAtItsFirstPlace) {
  Vocabulary::Builder builder;
  for (const char* word : {"a", "b", "a", ""}) builder.Add(word);
  ASSERT_OK_AND_ASSIGN(const Vocabulary vocabulary, std::move(builder).Build());

  EXPECT_EQ(vocabulary.Find("a"), 0);
  EXPECT_EQ(vocabulary.Find(""), 3);
  EXPECT_EQ(vocabulary.duplicate_words(), 1);
  EXPECT_EQ(vocabulary.word(2), "a");
}

TEST(Vocabulary, CanBeEmpty) {
  ASSERT_OK_AND_ASSIGN(const Vocabulary vocabulary, Vocabulary::Builder().Build());

  EXPECT_EQ(vocabulary.size(), 0);
  EXPECT_EQ(vocabulary.Find("a"), std::nullopt);
}

}  // namespace
}  // namespace embd::core
