#include <cstdint>
#include <sstream>
#include <string>

#include "client/cli/files/npy.h"
#include "client/cli/files/safetensors.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/cli/tensors.h"

namespace embd::cli {
namespace {

using embd::testing::IsOk;
using embd::testing::StatusIs;
using testing::Floats;
using ::testing::HasSubstr;
using testing::Ids;
using testing::MakeTensor;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

template <typename T>
std::string BytesOf(std::vector<T> values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string Npy(const std::string& header, const std::string& elements, char version = 1) {
  std::string file = "\x93NUMPY";
  file += version;
  file += '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  file.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return file + header + elements;
}

std::string Safetensors(const std::string& header, const std::string& elements) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header + elements;
}

TEST(Npy, ReadsBackWhatItWrites) {
  for (const Tensor& tensor :
       {Floats({2, 1, 2}, {1, 2, 3, 4}), Ids({2, 2}, {1, -2, 3, 4}), Floats({3}, {1, 2, 3}), Floats({0, 3}, {}),
        MakeTensor<double>(DataType::kFloat64, {1}, {0.1}), MakeTensor<std::uint16_t>(DataType::kFloat16, {2}, {1, 2}),
        MakeTensor<std::int32_t>(DataType::kInt32, {1, 2}, {1, 2})}) {
    SCOPED_TRACE(Name(tensor.type));
    std::ostringstream out;
    ASSERT_THAT(WriteNpy(tensor.view(), out), IsOk());

    ASSERT_OK_AND_ASSIGN(const Tensor read, ParseNpy(out.str()));

    EXPECT_EQ(read, tensor);
  }
}

TEST(Npy, WritesVersion1WithAlignedElements) {
  std::ostringstream out;

  ASSERT_THAT(WriteNpy(Floats({2}, {1, 2}).view(), out), IsOk());

  EXPECT_THAT(out.str(), HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"));
  EXPECT_EQ(out.str().size(), 128u + 8u);
}

TEST(Npy, CannotHoldBFloat16AndSaysWhatCan) {
  std::ostringstream out;

  const absl::Status status = WriteNpy(MakeTensor<std::uint16_t>(DataType::kBFloat16, {1}, {1}).view(), out);

  EXPECT_THAT(status, StatusIs(kInvalid,
                               HasSubstr("cannot hold bfloat16; ask for float16 or float32, or write a .safetensors")));
  EXPECT_EQ(out.str(), "");
}

TEST(Npy, ReadsVersions2And3AndHeadersInAnyOrder) {
  for (const char version : {'\2', '\3'}) {
    ASSERT_OK_AND_ASSIGN(const Tensor read, ParseNpy(Npy("{\"shape\":(1L,2), 'descr':'<i8','fortran_order':False}\n",
                                                         BytesOf<std::int64_t>({5, 6}), version)));
    EXPECT_EQ(read, Ids({1, 2}, {5, 6}));
  }
}

TEST(Npy, TurnsFortranOrderRound) {
  ASSERT_OK_AND_ASSIGN(const Tensor read, ParseNpy(Npy("{'descr': '<i8', 'fortran_order': True, 'shape': (2, 3), }",
                                                       BytesOf<std::int64_t>({1, 4, 2, 5, 3, 6}))));

  EXPECT_EQ(read, Ids({2, 3}, {1, 2, 3, 4, 5, 6}));
}

TEST(Npy, WidensSmallIntegers) {
  ASSERT_OK_AND_ASSIGN(const Tensor read, ParseNpy(Npy("{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }",
                                                       BytesOf<std::uint16_t>({1, 65535}))));

  EXPECT_EQ(read, Ids({2}, {1, 65535}));
}

TEST(Npy, NamesTypesThatAreNotTaken) {
  const auto parse = [](const std::string& descr) {
    return ParseNpy(Npy("{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }", std::string(8, '\0')));
  };

  EXPECT_THAT(parse("'>i8'"), StatusIs(kInvalid, HasSubstr("big-endian elements (>i8)")));
  EXPECT_THAT(parse("'<u8'"), StatusIs(kInvalid, HasSubstr("elements of type \"<u8\" are not taken")));
  EXPECT_THAT(parse("[('a', '<i8')]"), StatusIs(kInvalid, HasSubstr("structured element types")));
}

TEST(Npy, RefusesMoreOrFewerBytesThanTheShapeSays) {
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }";

  EXPECT_THAT(ParseNpy(Npy(header, std::string(15, '\0'))), StatusIs(kInvalid, HasSubstr("does not fit the 15 bytes")));
  EXPECT_THAT(ParseNpy(Npy(header, std::string(24, '\0'))), StatusIs(kInvalid, HasSubstr("does not fit the 24 bytes")));
}

TEST(Npy, RefusesAShapeThatOverflows) {
  EXPECT_THAT(ParseNpy(Npy("{'descr': '<i8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "")),
              StatusIs(kInvalid, HasSubstr("does not fit")));
}

TEST(Npy, RefusesEveryCutOffFile) {
  std::ostringstream out;
  ASSERT_THAT(WriteNpy(Ids({1, 1}, {7}).view(), out), IsOk());

  for (std::size_t size = 0; size < out.str().size(); ++size) {
    EXPECT_THAT(ParseNpy(out.str().substr(0, size)), StatusIs(kInvalid, HasSubstr(""))) << size;
  }
}

TEST(Npy, RefusesMalformedHeaders) {
  for (const char* header :
       {"", "{", "{}", "[1]", "{'descr': '<i8'}", "{'descr': '<i8', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<i8', 'fortran_order': False, 'shape': (-1,)}", "{'descr': '<i8' 'shape': (1,)}",
        "{'descr': '<i8', 'descr': '<i8', 'fortran_order': False, 'shape': (1,)}"}) {
    SCOPED_TRACE(header);
    EXPECT_THAT(ParseNpy(Npy(header, std::string(8, '\0'))), StatusIs(kInvalid, HasSubstr("header is malformed")));
  }
}

TEST(Safetensors, ReadsBackWhatItWrites) {
  for (const Tensor& tensor : {Floats({2, 1, 2}, {1, 2, 3, 4}), Ids({2, 2}, {1, -2, 3, 4}), Floats({0, 3}, {}),
                               MakeTensor<std::uint16_t>(DataType::kBFloat16, {2}, {1, 2})}) {
    SCOPED_TRACE(Name(tensor.type));
    std::ostringstream out;
    WriteSafetensors(tensor.view(), "embeddings", out);

    ASSERT_OK_AND_ASSIGN(const Tensor read, ParseSafetensors(out.str(), "embeddings"));

    EXPECT_EQ(read, tensor);
  }
}

TEST(Safetensors, TakesTheNamedTensorOrTheOnlyOne) {
  const std::string two = Safetensors(
      R"({"__metadata__":{"a":"b"},"ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},"x":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}})",
      BytesOf<std::int64_t>({1, 2}));
  const std::string one =
      Safetensors(R"({"x":{"dtype":"U8","shape":[1,2],"data_offsets":[0,2]}})", BytesOf<std::uint8_t>({1, 255}));

  ASSERT_OK_AND_ASSIGN(const Tensor named, ParseSafetensors(two, "ids"));
  ASSERT_OK_AND_ASSIGN(const Tensor only, ParseSafetensors(one, "ids"));

  EXPECT_EQ(named, Ids({1}, {1}));
  EXPECT_EQ(only, Ids({1, 2}, {1, 255}));
  EXPECT_THAT(ParseSafetensors(two, "y"), StatusIs(kInvalid, HasSubstr("holds 2 tensors, none of them named \"y\"")));
}

TEST(Safetensors, RefusesWhatIsNoSuchFile) {
  for (const std::string& file :
       {std::string("short"), std::string(8, '\xFF'), Safetensors("[]", ""), Safetensors("{", ""),
        Safetensors("{\"x\":" + std::string(100000, '['), ""), Safetensors(R"({"x":3})", ""),
        Safetensors("{\"x\":" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}", ""),
        Safetensors(R"({"x":{}})", ""), Safetensors(R"({"x":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})", "a"),
        Safetensors(R"({"x":{"dtype":"I64","shape":[-1],"data_offsets":[0,8]}})", "12345678"),
        Safetensors(R"({"x":{"dtype":"I64","shape":[1],"data_offsets":[8,0]}})", "12345678"),
        Safetensors(R"({"x":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})", "12345678"),
        Safetensors(R"({"x":{"dtype":"I64","shape":[1],"data_offsets":[0,4]}})", "12345678"),
        Safetensors(R"({"x":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", "")}) {
    SCOPED_TRACE(file.substr(0, 100));
    EXPECT_THAT(ParseSafetensors(file, "x"), StatusIs(kInvalid, HasSubstr("")));
  }
}

TEST(Safetensors, RefusesAZeroByteBehindTheHeadersObject) {
  const std::string header = R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
  EXPECT_THAT(ParseSafetensors(Safetensors(header + "  ", "a"), "x"), IsOk());
  EXPECT_THAT(ParseSafetensors(Safetensors(header + std::string(2, '\0'), "a"), "x"),
              StatusIs(kInvalid, HasSubstr("no JSON object")));
}

}  // namespace
}  // namespace embd::cli
