#include "server/formats/load_vector.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/gguf_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class LoadVectorTest : public ::testing::Test {
 protected:
  std::string Npy(const std::string& descr, const std::string& shape, const std::string& data) {
    return folder_.Write("v.npy", NpyFile(NpyDict(descr, shape), data));
  }

  ScratchFolder folder_;
};

TEST_F(LoadVectorTest, EveryTypeOfSafetensorsBecomesFloat32) {
  const std::string path =
      folder_.Write("m.safetensors",
                    SafetensorsFile(Header({Entry("f32", "F32", "[2]", 0, 8), Entry("f16", "F16", "[2]", 8, 12),
                                            Entry("bf16", "BF16", "[2]", 12, 16), Entry("f64", "F64", "[2]", 16, 32)}),
                                    Raw<float>({0.1f, -2}) + Raw<std::uint16_t>({0x3C00, 0x0001}) +
                                        Raw<std::uint16_t>({0x3F80, 0xC000}) + Raw<double>({0.5, -1e300})));

  ASSERT_OK_AND_ASSIGN(const std::vector<float> f32, LoadVector(path, "f32"));
  ASSERT_OK_AND_ASSIGN(const std::vector<float> f16, LoadVector(path, "f16"));
  ASSERT_OK_AND_ASSIGN(const std::vector<float> bf16, LoadVector(path, "bf16"));
  ASSERT_OK_AND_ASSIGN(const std::vector<float> f64, LoadVector(path, "f64"));

  EXPECT_THAT(f32, ElementsAre(0.1f, -2.0f));
  EXPECT_THAT(f16, ElementsAre(1.0f, 0x1p-24f));
  EXPECT_THAT(bf16, ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(f64, ElementsAre(0.5f, -std::numeric_limits<float>::infinity()));
}

TEST_F(LoadVectorTest, Float64IsRoundedToNearestWithTiesToEven) {
  const std::string path =
      Npy("'<f8'", "(4,)", Raw<double>({1 + 0x1p-24, 1 + 0x3p-24, 1 + 0x1.8p-24, std::nextafter(1 + 0x1p-24, 0.0)}));

  ASSERT_OK_AND_ASSIGN(const std::vector<float> values, LoadVector(path, ""));

  EXPECT_THAT(values, ElementsAre(1.0f, 1 + 0x1p-22f, 1 + 0x1p-23f, 1.0f));
}

TEST_F(LoadVectorTest, BigEndianNpyIsTurned) {
  ASSERT_OK_AND_ASSIGN(const std::vector<float> values,
                       LoadVector(Npy("'>f4'", "(1,)", std::string("\x3F\xC0\x00\x00", 4)), ""));

  EXPECT_THAT(values, ElementsAre(1.5f));
}

TEST_F(LoadVectorTest, LongVectorsAreWhole) {
  std::vector<float> expected(20'001);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = static_cast<float>(i);

  ASSERT_OK_AND_ASSIGN(const std::vector<float> values, LoadVector(Npy("'<f4'", "(20001,)", Raw(expected)), ""));

  EXPECT_EQ(values, expected);
}

TEST_F(LoadVectorTest, EmptyVectorIsOne) {
  ASSERT_OK_AND_ASSIGN(const std::vector<float> values, LoadVector(Npy("'<f4'", "(0,)", ""), ""));

  EXPECT_THAT(values, IsEmpty());
}

// As transformers stores final_logits_bias.
TEST_F(LoadVectorTest, ASingleRowOfSafetensorsIsAVector) {
  const std::string path =
      folder_.Write("m.safetensors", SafetensorsFile(Header({Entry("row", "F32", "[1,2]", 0, 8)}), Raw<float>({3, 4})));

  ASSERT_OK_AND_ASSIGN(const std::vector<float> values, LoadVector(path, "row"));

  EXPECT_THAT(values, ElementsAre(3, 4));
}

TEST_F(LoadVectorTest, OtherShapesAndTypesAreRefused) {
  const std::string path =
      folder_.Write("m.safetensors",
                    SafetensorsFile(Header({Entry("table", "F32", "[2,1]", 0, 8), Entry("ids", "I64", "[1]", 8, 16)}),
                                    std::string(16, '\0')));

  EXPECT_THAT(LoadVector(path, "table"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                             path + ": tensor \"table\": its shape has 2 dimensions; a vector has 1"),
                    ReasonIs("INVALID_FILE")));
  EXPECT_THAT(LoadVector(path, "ids"), AllOf(StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("dtype I64")),
                                             ReasonIs("UNSUPPORTED_FORMAT")));
  EXPECT_THAT(LoadVector(Npy("'<f4'", "(1, 1)", Raw<float>({1})), ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("has 2 dimensions; a vector has 1")));
  EXPECT_THAT(LoadVector(Npy("'<f4'", "(2,)", Raw<float>({1})), ""),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("shape (2,) of float32")));
}

TEST_F(LoadVectorTest, GgufVectorsOfFloatsAreTakenAndQuantisedOnesAreNot) {
  const std::string path =
      folder_.Write("m.gguf", GgufBytes({.tensors = {GgufEntry("f16", {2}, 1, 0), GgufEntry("bf16", {2}, 30, 32),
                                                     GgufEntry("q8", {32}, 8, 64), GgufEntry("table", {2, 1}, 0, 128)},
                                         .data = Raw<std::uint16_t>({0x3C00, 0xC000}) + std::string(28, '\0') +
                                                 Raw<std::uint16_t>({0x3F80, 0xC000}) + std::string(100, '\0')}));

  ASSERT_OK_AND_ASSIGN(const std::vector<float> f16, LoadVector(path, "f16"));
  ASSERT_OK_AND_ASSIGN(const std::vector<float> bf16, LoadVector(path, "bf16"));

  EXPECT_THAT(f16, ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(bf16, ElementsAre(1.0f, -2.0f));
  EXPECT_THAT(LoadVector(path, "q8"), AllOf(StatusIs(absl::StatusCode::kUnimplemented,
                                                     path + ": tensor \"q8\": a vector of type Q8_0 is not served"),
                                            ReasonIs("UNSUPPORTED_FORMAT")));
  EXPECT_THAT(LoadVector(path, "table"), AllOf(StatusIs(absl::StatusCode::kInvalidArgument,
                                                        HasSubstr("tensor \"table\": must have one dimension, has 2")),
                                               ReasonIs("INVALID_FILE")));
  EXPECT_THAT(LoadVector(path, ""), ReasonIs("TENSOR_NOT_FOUND"));
  EXPECT_THAT(LoadVector(folder_.Write("cut.gguf", "GGUF"), "q8"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("cut.gguf: byte 4: the file ends at 4")),
                    ReasonIs("INVALID_FILE")));
}

TEST_F(LoadVectorTest, NamesMustFitTheFile) {
  const std::string path = folder_.Write(
      "m.safetensors", SafetensorsFile(Header({Entry("norm", "F32", "[1]", 0, 4)}), std::string(4, '\0')));

  EXPECT_THAT(LoadVector(path, ""), ReasonIs("TENSOR_NOT_FOUND"));
  EXPECT_THAT(LoadVector(path, "other"),
              AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("\"norm\"")), ReasonIs("TENSOR_NOT_FOUND")));
  EXPECT_THAT(LoadVector(Npy("'<f4'", "(1,)", Raw<float>({1})), "norm"), ReasonIs("TENSOR_NOT_FOUND"));
}

TEST_F(LoadVectorTest, OtherFilesAreNamed) {
  EXPECT_THAT(
      LoadVector(folder_.Path("none.npy"), ""),
      AllOf(StatusIs(absl::StatusCode::kNotFound, StartsWith(folder_.Path("none.npy: "))), ReasonIs("FILE_NOT_FOUND")));
  EXPECT_THAT(LoadVector(folder_.Write("v.txt", "a 1"), ""), ReasonIs("UNSUPPORTED_FORMAT"));
}

}  // namespace
}  // namespace embd::formats
