// Files that another writer made: see tests/golden/gguf.py.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/core/tensor/float_bits.h"
#include "server/formats/gguf_file.h"
#include "server/formats/load_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"

namespace embd::formats {
namespace {

using ::testing::ElementsAre;

std::string GoldenPath(const std::string& name) {
  return absl::StrCat(EMBD_SOURCE_DIR, "/tests/golden/formats/", name);
}

// The table's elements as the bits of float32.
std::vector<std::uint32_t> AsFloat32(const core::Table& table) {
  if (table.element_type() == core::ElementType::kFloat32) return ElementBits<std::uint32_t>(table);
  std::vector<float> values;
  for (const std::uint16_t bits : ElementBits<std::uint16_t>(table)) {
    values.push_back(table.element_type() == core::ElementType::kFloat16 ? core::HalfToFloat(bits)
                                                                         : core::BFloat16ToFloat(bits));
  }
  return FloatBits(values);
}

struct GoldenType {
  std::string name;
  core::ElementType table_type;
};

void PrintTo(const GoldenType& type, std::ostream* out) { *out << type.name; }

class GoldenGguf : public ::testing::TestWithParam<GoldenType> {};

TEST_P(GoldenGguf, HoldsTheExpectedBits) {
  const std::string& name = GetParam().name;
  ASSERT_OK_AND_ASSIGN(const LoadedTable expected,
                       LoadTable({.path = GoldenPath(absl::StrCat("gguf_", name, ".npy"))}));

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, LoadTable({.path = GoldenPath(absl::StrCat("gguf_", name, ".gguf"))}));

  EXPECT_EQ(loaded.table.element_type(), GetParam().table_type);
  EXPECT_EQ(loaded.table.rows(), 3);
  EXPECT_EQ(loaded.table.dim(), 512);
  EXPECT_EQ(AsFloat32(loaded.table), ElementBits<std::uint32_t>(expected.table));
}

INSTANTIATE_TEST_SUITE_P(
    EveryType, GoldenGguf,
    ::testing::Values(GoldenType{"f32", core::ElementType::kFloat32}, GoldenType{"f16", core::ElementType::kFloat16},
                      GoldenType{"bf16", core::ElementType::kBFloat16}, GoldenType{"q4_0", core::ElementType::kFloat32},
                      GoldenType{"q8_0", core::ElementType::kFloat32}, GoldenType{"q4_k", core::ElementType::kFloat32},
                      GoldenType{"q6_k", core::ElementType::kFloat32}),
    [](const ::testing::TestParamInfo<GoldenType>& type) { return type.param.name; });

TEST(GoldenGgufFile, TensorsAreTakenByName) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded,
                       LoadTable({.path = GoldenPath("gguf_q8_0.gguf"), .tensor = "position_embd.weight"}));

  EXPECT_EQ(loaded.table.rows(), 3);
  EXPECT_EQ(loaded.table.dim(), 2);
  EXPECT_EQ(AsFloat32(loaded.table), FloatBits({0, 1, 2, 3, 4, 5}));
}

TEST(GoldenGgufFile, MetadataOfEveryKindIsRead) {
  ASSERT_OK_AND_ASSIGN(const GgufFile file, OpenGguf(GoldenPath("gguf_f16.gguf")));
  const auto value = [&file](const char* key) { return file.metadata.at(key); };

  EXPECT_EQ(file.version, 3u);
  EXPECT_EQ(file.metadata.size(), 17u);
  EXPECT_EQ(value("general.architecture"), GgufValue("llama"));
  EXPECT_EQ(value("general.alignment"), GgufValue(std::int64_t{64}));
  EXPECT_EQ(value("a.uint8"), GgufValue(std::int64_t{255}));
  EXPECT_EQ(value("a.int8"), GgufValue(std::int64_t{-1}));
  EXPECT_EQ(value("a.uint16"), GgufValue(std::int64_t{65535}));
  EXPECT_EQ(value("a.int16"), GgufValue(std::int64_t{-2}));
  EXPECT_EQ(value("a.int32"), GgufValue(std::int64_t{-3}));
  EXPECT_EQ(value("a.float32"), GgufValue(static_cast<double>(1e-5f)));
  EXPECT_EQ(value("a.bool"), GgufValue(true));
  EXPECT_EQ(value("a.uint64"), GgufValue(~std::uint64_t{0}));
  EXPECT_EQ(value("a.int64"), GgufValue(-(std::int64_t{1} << 40)));
  EXPECT_EQ(value("a.float64"), GgufValue(0.1));
  EXPECT_EQ(value("list.int32"), GgufValue(std::vector<std::int64_t>{1, -2, 3}));
  EXPECT_EQ(value("list.float32"), GgufValue(std::vector<double>{0.5, 2}));
  EXPECT_EQ(value("list.bool"), GgufValue(std::vector<bool>{false, true}));
  EXPECT_EQ(value("list.text"), GgufValue(std::vector<std::string>{"a", ""}));
  EXPECT_EQ(value("tokenizer.ggml.tokens"), GgufValue(GgufSkipped{5000}));
}

TEST(GoldenGgufFile, TensorsAreDescribed) {
  ASSERT_OK_AND_ASSIGN(const GgufFile file, OpenGguf(GoldenPath("gguf_q4_k.gguf")));

  const GgufTensor* const tensor = file.Find("token_embd.weight");

  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(tensor->type->name, "Q4_K");
  EXPECT_EQ(tensor->rank, 2u);
  EXPECT_THAT(tensor->sizes, ElementsAre(512, 3, 1, 1));
  EXPECT_EQ(tensor->bytes, 3u * 2 * 144);
  EXPECT_EQ(file.Find("none"), nullptr);
}

}  // namespace
}  // namespace embd::formats
