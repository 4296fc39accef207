#include "client/cli/render/json_text.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"

namespace embd::cli {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonText, IsLaidOutAsPythonDoesIt) {
  const Json value = {{"b", {1, 2.5}}, {"a", Json::object()}, {"\"", {{"ü", nullptr}}}, {"none", Json::array()}};

  EXPECT_EQ(
      JsonText(value),
      "{\n  \"b\": [\n    1,\n    2.5\n  ],\n  \"a\": {},\n  \"\\\"\": {\n    \"ü\": null\n  },\n  \"none\": []\n}");
}

TEST(JsonText, SpellsNumbersThatAreNotFinite) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();

  EXPECT_EQ(JsonText(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(JsonText(Json::array({kInfinity, -kInfinity})), "[\n  Infinity,\n  -Infinity\n]");
}

TEST(JsonText, ReplacesBytesThatAreNoText) { EXPECT_EQ(JsonText(std::string("a\xFF")), "\"a\uFFFD\""); }

}  // namespace
}  // namespace embd::cli
