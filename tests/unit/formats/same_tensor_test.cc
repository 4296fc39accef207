#include "server/formats/same_tensor.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/formats/file_bytes.h"
#include "tests/unit/formats/scratch_folder.h"

namespace embd::formats {
namespace {

using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A file whose tensors "a" and "b", of that type and those shapes, have those bytes.
std::string TwoTensors(const std::string& a_shape, const std::string& a, const std::string& b_shape,
                       const std::string& b, const std::string& b_type = "F32") {
  return SafetensorsFile(
      Header({Entry("a", "F32", a_shape, 0, a.size()), Entry("b", b_type, b_shape, a.size(), a.size() + b.size())}),
      a + b);
}

class SameTensorTest : public ::testing::Test {
 protected:
  // Whether "a" and "b" of that file are the same.
  bool Compare(const std::string& bytes) {
    const std::string path = folder_.Write("f.safetensors", bytes);
    const auto same = SameTensor({path, "a"}, {path, "b"});
    EXPECT_THAT(same, ::embd::testing::IsOk());
    return same.value_or(false);
  }

  ScratchFolder folder_;
};

TEST_F(SameTensorTest, EqualBytesAreTheSame) {
  const std::string data = Raw(std::vector<float>{1, 2, 3, 4});

  EXPECT_TRUE(Compare(TwoTensors("[2,2]", data, "[2,2]", data)));
}

TEST_F(SameTensorTest, OneBitIsADifference) {
  EXPECT_FALSE(
      Compare(TwoTensors("[1,2]", Raw(std::vector<float>{1, 0.0f}), "[1,2]", Raw(std::vector<float>{1, -0.0f}))));
}

TEST_F(SameTensorTest, ShapeAndTypeCount) {
  const std::string data = Raw(std::vector<float>{1, 2, 3, 4});

  EXPECT_FALSE(Compare(TwoTensors("[2,2]", data, "[4,1]", data)));
  EXPECT_FALSE(Compare(TwoTensors("[2,2]", data, "[2,2]", data, "I32")));
}

// Bytes are compared piece by piece.
TEST_F(SameTensorTest, TheLastByteOfALargeTensorIsCompared) {
  std::vector<float> values((std::size_t{3} << 18) + 5, 1.5f);
  const std::string shape = absl::StrCat("[", values.size(), ",1]");
  const std::string a = Raw(values);
  EXPECT_TRUE(Compare(TwoTensors(shape, a, shape, a)));

  values.back() = 2.5f;
  EXPECT_FALSE(Compare(TwoTensors(shape, a, shape, Raw(values))));
}

TEST_F(SameTensorTest, EmptyTensorsAreTheSame) { EXPECT_TRUE(Compare(TwoTensors("[0,2]", "", "[0,2]", ""))); }

TEST_F(SameTensorTest, FilesThatCannotBeReadAreNamedWhicheverTheyAre) {
  const std::string data = Raw(std::vector<float>{1});
  const TensorInFile good = {folder_.Write("f.safetensors", TwoTensors("[1,1]", data, "[1,1]", data)), "a"};
  const TensorInFile missing = {folder_.Path("none.safetensors"), "a"};
  const TensorInFile broken = {folder_.Write("x.safetensors", "x"), "a"};

  for (const bool first : {true, false}) {
    EXPECT_THAT(first ? SameTensor(missing, good) : SameTensor(good, missing),
                AllOf(StatusIs(absl::StatusCode::kNotFound, HasSubstr("none.safetensors: cannot open the file")),
                      ReasonIs("FILE_NOT_FOUND")));
    EXPECT_THAT(first ? SameTensor(broken, good) : SameTensor(good, broken),
                AllOf(StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("x.safetensors: byte 1: ")),
                      ReasonIs("INVALID_FILE")));
  }
}

TEST_F(SameTensorTest, AMissingTensorIsNamed) {
  const std::string data = Raw(std::vector<float>{1});
  const std::string path = folder_.Write("f.safetensors", TwoTensors("[1,1]", data, "[1,1]", data));

  EXPECT_THAT(SameTensor({path, "a"}, {path, "c"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("f.safetensors: no tensor \"c\"")));
}

}  // namespace
}  // namespace embd::formats
