#include "server/config/keys.h"

#include "gmock/gmock.h"

namespace embd::config {
namespace {

TEST(UnknownKey, NamesTheNearestKeyAndAllThatAreAllowed) {
  EXPECT_EQ(UnknownKeyMessage(Section::kSeededTokens, "vocabsize"),
            "unknown key \"vocabsize\"; did you mean vocab_size? allowed: vocab_size, embedding_dim, mean, std, seed");
}

TEST(UnknownKey, NamesNoNearestKeyWhereNoneIsNear) {
  EXPECT_EQ(UnknownKeyMessage(Section::kLog, "colour"),
            "unknown key \"colour\"; allowed: level, format, access_sample");
}

TEST(UnknownKey, SaysWhereNoKeyIsAllowed) {
  EXPECT_EQ(UnknownKeyMessage(Section::kNone, "x"), "unknown key \"x\"; no key is allowed here");
}

TEST(UnknownKey, StaysShortForALongKey) {
  EXPECT_LT(UnknownKeyMessage(Section::kFile, std::string(100'000, 'x')).size(), 200);
}

TEST(Sections, StandInTheOrderOfTheEnum) {
  for (std::size_t i = 0; i < Sections().size(); ++i) EXPECT_EQ(static_cast<std::size_t>(Sections()[i].section), i);
}

}  // namespace
}  // namespace embd::config
