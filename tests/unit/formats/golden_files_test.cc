// Files that other writers made: see tests/golden/generate_formats.py.
#include <bit>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "server/formats/load_table.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"

namespace embd::formats {
namespace {

using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string GoldenPath(const std::string& name) {
  return absl::StrCat(EMBD_SOURCE_DIR, "/tests/golden/formats/", name);
}

// The same values in three types, by their bits.
const std::vector<std::uint16_t> kFloat16Bits = {0x0000, 0x8000, 0x3C00, 0xBE00, 0x0001, 0x7BFF,
                                                 0x7C00, 0xFC00, 0x3555, 0x4248, 0x8400, 0x67FF};
const std::vector<std::uint32_t> kFloat32Bits = {0x00000000, 0x80000000, 0x3F800000, 0xBFC00000,
                                                 0x33800000, 0x477FE000, 0x7F800000, 0xFF800000,
                                                 0x3EAAA000, 0x40490000, 0xB8800000, 0x44FFE000};
const std::vector<std::uint64_t> kFloat64Bits = {0x0000000000000000, 0x8000000000000000, 0x3FF0000000000000,
                                                 0xBFF8000000000000, 0x3E70000000000000, 0x40EFFC0000000000,
                                                 0x7FF0000000000000, 0xFFF0000000000000, 0x3FD5540000000000,
                                                 0x4009200000000000, 0xBF10000000000000, 0x409FFC0000000000};

using NpyVariant = std::tuple<int, std::string, std::string, std::string>;

class GoldenNpy : public ::testing::TestWithParam<NpyVariant> {};

TEST_P(GoldenNpy, HoldsTheExpectedBits) {
  const auto& [version, type, byte_order, element_order] = GetParam();
  const std::string path =
      GoldenPath(absl::StrCat("v", version, "_", type, "_", byte_order, "_", element_order, ".npy"));

  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, LoadTable({.path = path, .tensor = "", .vocabulary = ""}));

  EXPECT_EQ(loaded.table.rows(), 4);
  EXPECT_EQ(loaded.table.dim(), 3);
  if (type == "f2") {
    EXPECT_EQ(loaded.table.element_type(), core::ElementType::kFloat16);
    EXPECT_EQ(ElementBits<std::uint16_t>(loaded.table), kFloat16Bits);
  } else if (type == "f4") {
    EXPECT_EQ(loaded.table.element_type(), core::ElementType::kFloat32);
    EXPECT_EQ(ElementBits<std::uint32_t>(loaded.table), kFloat32Bits);
  } else {
    EXPECT_EQ(loaded.table.element_type(), core::ElementType::kFloat64);
    EXPECT_EQ(ElementBits<std::uint64_t>(loaded.table), kFloat64Bits);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, GoldenNpy,
                         ::testing::Combine(::testing::Values(1, 2, 3), ::testing::Values("f2", "f4", "f8"),
                                            ::testing::Values("little", "big"), ::testing::Values("c", "fortran")),
                         [](const ::testing::TestParamInfo<NpyVariant>& variant) {
                           return absl::StrCat("v", std::get<0>(variant.param), "_", std::get<1>(variant.param), "_",
                                               std::get<2>(variant.param), "_", std::get<3>(variant.param));
                         });

struct RefusedArray {
  std::string name;
  absl::StatusCode code;
  std::string message;
};

void PrintTo(const RefusedArray& array, std::ostream* out) { *out << array.name; }

class GoldenNpyRefused : public ::testing::TestWithParam<RefusedArray> {};

TEST_P(GoldenNpyRefused, ByNameOfItsTypeOrShape) {
  const std::string path = GoldenPath(absl::StrCat("refused_", GetParam().name, ".npy"));

  EXPECT_THAT(LoadTable({.path = path, .tensor = "", .vocabulary = ""}),
              StatusIs(GetParam().code, AllOf(StartsWith(absl::StrCat(path, ": ")), HasSubstr(GetParam().message))));
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenNpyRefused,
    ::testing::Values(
        RefusedArray{"int32", absl::StatusCode::kUnimplemented, R"(dtype "<i4" is not served)"},
        RefusedArray{"complex64", absl::StatusCode::kUnimplemented, R"(dtype "<c8" is not served)"},
        RefusedArray{"bool", absl::StatusCode::kUnimplemented, R"(dtype "|b1" is not served)"},
        RefusedArray{"object", absl::StatusCode::kUnimplemented, R"(dtype "|O" is not served)"},
        RefusedArray{"text", absl::StatusCode::kUnimplemented, R"(dtype "<U2" is not served)"},
        RefusedArray{"time", absl::StatusCode::kUnimplemented, R"(dtype "<M8[ns]" is not served)"},
        RefusedArray{"structured", absl::StatusCode::kUnimplemented, "a structured dtype is not served"},
        RefusedArray{"rank0", absl::StatusCode::kInvalidArgument, "the array has 0 dimensions; a table has 2"},
        RefusedArray{"rank1", absl::StatusCode::kInvalidArgument, "the array has 1 dimension; a table has 2"},
        RefusedArray{"rank3", absl::StatusCode::kInvalidArgument, "the array has 3 dimensions; a table has 2"},
        RefusedArray{"empty", absl::StatusCode::kInvalidArgument, "shape (0, 3) has no elements"}),
    [](const ::testing::TestParamInfo<RefusedArray>& array) { return array.param.name; });

class GoldenSafetensors : public ::testing::Test {
 protected:
  static absl::StatusOr<LoadedTable> Load(const std::string& tensor) {
    return LoadTable({.path = GoldenPath("mixed.safetensors"), .tensor = tensor, .vocabulary = ""});
  }
};

TEST_F(GoldenSafetensors, Float32HoldsTheExpectedBits) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("float32"));

  EXPECT_EQ(loaded.table.rows(), 2);
  EXPECT_EQ(loaded.table.dim(), 3);
  EXPECT_EQ(loaded.table.element_type(), core::ElementType::kFloat32);
  EXPECT_THAT(ElementBits<std::uint32_t>(loaded.table),
              ElementsAre(0x00000000u, 0x80000000u, 0x3F800000u, 0xBFC00000u, 0x7F800000u, 0x3DCCCCCDu));
}

TEST_F(GoldenSafetensors, Float16HoldsTheExpectedBits) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("float16"));

  EXPECT_EQ(loaded.table.rows(), 3);
  EXPECT_EQ(loaded.table.element_type(), core::ElementType::kFloat16);
  EXPECT_THAT(ElementBits<std::uint16_t>(loaded.table), ElementsAre(0x3C00, 0xFBFF, 0x0001));
}

TEST_F(GoldenSafetensors, BFloat16HoldsTheExpectedBits) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("bfloat16"));

  EXPECT_EQ(loaded.table.dim(), 4);
  EXPECT_EQ(loaded.table.element_type(), core::ElementType::kBFloat16);
  EXPECT_THAT(ElementBits<std::uint16_t>(loaded.table), ElementsAre(0x3F80, 0xC000, 0x3F00, 0x4040));
}

TEST_F(GoldenSafetensors, Float64HoldsTheExpectedBits) {
  ASSERT_OK_AND_ASSIGN(const LoadedTable loaded, Load("float64"));

  EXPECT_EQ(loaded.table.element_type(), core::ElementType::kFloat64);
  EXPECT_THAT(ElementBits<std::uint64_t>(loaded.table),
              ElementsAre(std::bit_cast<std::uint64_t>(0.1), std::bit_cast<std::uint64_t>(-1e300)));
}

TEST_F(GoldenSafetensors, EightBitFloatsAreRefusedByName) {
  EXPECT_THAT(Load("float8"), StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("dtype F8_E4M3 is not served")));
}

}  // namespace
}  // namespace embd::formats
