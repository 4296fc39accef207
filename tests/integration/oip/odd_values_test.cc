// Tensors without elements, and elements that are no numbers; the cases of Triton's L0_infer_zero and L0_nan_inf.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/integration/oip/oip_server.h"

namespace embd {
namespace {

using ::embd::testing::AddInput;
using ::embd::testing::AddRaw;
using ::embd::testing::IdentityRequest;
using ::embd::testing::InferRequest;
using ::embd::testing::IsOk;
using ::embd::testing::RawBytes;
using ::embd::testing::RawValues;
using ::embd::testing::Refused;
using ::embd::testing::RequestFor;
using ::embd::testing::Shape;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

using OddValues = testing::OipServer;

// NaNs quiet and signalling, with payloads and signs; infinities; zeros; subnormals; the largest.
const std::vector<std::uint32_t> kOddBits = {0x7FC00000, 0xFFC00000, 0x7FC12345, 0x7F800001, 0xFF8ABCDE, 0x7F800000,
                                             0xFF800000, 0x80000000, 0x00000000, 0x00000001, 0x807FFFFF, 0x7F7FFFFF};

TEST_F(OddValues, TensorsWithAnExtentOfZeroComeBackAsTheyWere) {
  for (const Shape& shape : {Shape{0, 1}, Shape{1, 0}, Shape{0, 0}, Shape{8, 0}, Shape{0, std::int64_t{1} << 62}}) {
    const auto response = Infer(IdentityRequest(shape, {}));

    ASSERT_THAT(response, IsOk());
    EXPECT_THAT(response->outputs(0).shape(), ElementsAreArray(shape));
    EXPECT_THAT(response->raw_output_contents(), ElementsAre(""));
  }
}

TEST_F(OddValues, EmptyTypedTensorComesBackTyped) {
  InferRequest request = RequestFor("identity_fp32");
  AddInput(&request, "INPUT0", "FP32", {1, 0})->mutable_contents();
  (*request.mutable_parameters())["typed_output"].set_bool_param(true);

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  EXPECT_THAT(response->outputs(0).shape(), ElementsAre(1, 0));
  EXPECT_EQ(response->outputs(0).contents().fp32_contents_size(), 0);
  EXPECT_EQ(response->raw_output_contents_size(), 0);
}

TEST_F(OddValues, EmptyTensorWithElementsIsRefused) {
  ExpectRefused(IdentityRequest({1, 0}, {1.0f}),
                Refused("INVALID_SHAPE",
                        "input byte size mismatch for input 'INPUT0' for model 'identity_fp32'. Expected 0, got 4"));
}

TEST_F(OddValues, EmptyBatchGivesEveryOutputWithoutRows) {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "input_ids", "INT64", {0, 5}, std::vector<std::int64_t>());
  AddRaw(&request, "attention_mask", "INT32", {0, 5}, std::vector<std::int32_t>());
  for (const char* const name : {"embeddings", "token_embeddings", "position_embeddings"}) {
    request.add_outputs()->set_name(name);
  }

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->outputs_size(), 3);
  for (const auto& output : response->outputs()) EXPECT_THAT(output.shape(), ElementsAre(0, 5, 4));
  EXPECT_THAT(response->raw_output_contents(), ElementsAre("", "", ""));
}

TEST_F(OddValues, EmptySequenceIsRefused) {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "input_ids", "INT64", {2, 0}, std::vector<std::int64_t>());
  ExpectRefused(request, Refused("INVALID_SHAPE", "sequence_length must be >= 1, got 0"));
}

TEST_F(OddValues, NansAndInfinitiesComeBackBitByBit) {
  InferRequest raw = RequestFor("identity_fp32"), typed = RequestFor("identity_fp32");
  AddRaw(&raw, "INPUT0", "FP32", {3, 4}, kOddBits);
  testing::InputMessage* const input = AddInput(&typed, "INPUT0", "FP32", {3, 4});
  for (const float value : RawValues<float>(RawBytes(kOddBits))) input->mutable_contents()->add_fp32_contents(value);
  InferRequest typed_back = raw;
  (*typed_back.mutable_parameters())["typed_output"].set_bool_param(true);

  const auto from_raw = Infer(raw), from_typed = Infer(typed), to_typed = Infer(typed_back);

  ASSERT_THAT(from_raw, IsOk());
  ASSERT_THAT(from_typed, IsOk());
  ASSERT_THAT(to_typed, IsOk());
  EXPECT_EQ(RawValues<std::uint32_t>(from_raw->raw_output_contents(0)), kOddBits);
  EXPECT_EQ(RawValues<std::uint32_t>(from_typed->raw_output_contents(0)), kOddBits);
  const auto& floats = to_typed->outputs(0).contents().fp32_contents();
  EXPECT_EQ(RawValues<std::uint32_t>(RawBytes(std::vector<float>(floats.begin(), floats.end()))), kOddBits);
}

TEST_F(OddValues, VectorsOfNansAndInfinitiesKeepTheirBits) {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "inputs_embeds", "FP32", {1, 3, 4}, kOddBits);
  request.add_outputs()->set_name("token_embeddings");

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(RawValues<std::uint32_t>(response->raw_output_contents(0)), kOddBits);
}

TEST_F(OddValues, HalfPrecisionVectorsOfNansAndInfinitiesKeepTheirBits) {
  const std::vector<std::uint16_t> bits = {0x7E00, 0xFE00, 0x7C00, 0xFC00};
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "inputs_embeds", "FP16", {1, 1, 4}, bits);
  request.add_outputs()->set_name("token_embeddings");
  (*request.mutable_parameters())["output_datatype"].set_string_param("FP16");

  const auto response = Infer(request);

  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(RawValues<std::uint16_t>(response->raw_output_contents(0)), bits);
}

}  // namespace
}  // namespace embd
