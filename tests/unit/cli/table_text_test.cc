#include "client/cli/render/table_text.h"

#include "gtest/gtest.h"

namespace embd::cli {
namespace {

TEST(TableText, LinesUpColumnsOnTheirSides) {
  const std::string text =
      TableText({{"model"}, {"rows", kRight}, {"from"}}, {{"demo-learned", "320", "a"}, {"m", "50257", "file"}});

  EXPECT_EQ(text,
            "model          rows  from\n"
            "demo-learned    320  a\n"
            "m             50257  file\n");
}

TEST(TableText, CountsCharactersNotBytes) {
  EXPECT_EQ(TableText({{"a"}, {"b"}}, {{"é", "1"}, {"xy", "2"}}), "a   b\né   1\nxy  2\n");
}

TEST(FieldsText, LinesUpValues) {
  EXPECT_EQ(FieldsText({{"version", "0.1.0"}, {"simd target", "AVX2"}}), "version      0.1.0\nsimd target  AVX2\n");
}

}  // namespace
}  // namespace embd::cli
