#include "client/cli/render/array_text.h"

#include <charconv>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

using testing::Floats;

Tensor FromGolden(const nlohmann::json& entry) {
  const std::map<std::string, DataType> types = {{"float32", DataType::kFloat32},
                                                 {"float16", DataType::kFloat16},
                                                 {"float64", DataType::kFloat64},
                                                 {"int32", DataType::kInt32},
                                                 {"int64", DataType::kInt64}};
  Tensor tensor{.type = types.at(entry.at("dtype")), .shape = entry.at("shape"), .bytes = {}};
  const std::string hex = entry.at("bytes");
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    tensor.bytes.push_back(static_cast<std::byte>(value));
  }
  return tensor;
}

TEST(ArrayText, EqualsNumpyCharacterByCharacter) {
  std::ifstream file(EMBD_SOURCE_DIR "/tests/golden/numpy_print.json");
  const nlohmann::json golden = nlohmann::json::parse(file);
  ASSERT_GT(golden.size(), 30u);

  for (const nlohmann::json& entry : golden) {
    SCOPED_TRACE(entry.at("name").get<std::string>());
    EXPECT_EQ(ArrayText(FromGolden(entry).view()), entry.at("text").get<std::string>());
  }
}

TEST(ArrayText, PrintsBFloat16AsTheFloat32ItEquals) {
  const Tensor tensor = testing::MakeTensor<std::uint16_t>(DataType::kBFloat16, {2}, {0x3F80, 0xBE80});

  EXPECT_EQ(ArrayText(tensor.view()), "[ 1.   -0.25]");
}

TEST(ArrayHeading, NamesShapeAndType) {
  EXPECT_EQ(ArrayHeading("embeddings", Floats({1, 1, 2}, {1, 2}).view()), "embeddings (1, 1, 2) float32");
}

TEST(ShapeText, HasACommaAfterASingleExtent) { EXPECT_EQ(ShapeText(std::vector<std::int64_t>{7}), "(7,)"); }

}  // namespace
}  // namespace embd::cli
