#include "proto/wire/frame.h"

#include <string>

#include "embd/v1/embedding.pb.h"
#include "gmock/gmock.h"

namespace embd::wire {
namespace {

v1::EmbedResponse ResponseWithoutTensor() {
  v1::EmbedResponse response;
  response.set_model("m");
  response.set_generation(3);
  response.add_warnings("w");
  return response;
}

v1::Tensor TensorWithoutData() {
  v1::Tensor tensor;
  tensor.set_data_type(v1::DATA_TYPE_FLOAT32);
  tensor.add_shape(2);
  tensor.add_shape(1);
  return tensor;
}

// Lengths around every change in the number of length bytes.
constexpr std::size_t kPayloadSizes[] = {1, 100, 127, 128, 129, 16'000, 16'383, 16'384, 3'000'000};

TEST(FrameHeader, WithPayloadIsTheMessageThatProtobufWrites) {
  for (const std::size_t size : kPayloadSizes) {
    SCOPED_TRACE(size);
    const std::string payload(size, 'x');
    v1::EmbedResponse whole = ResponseWithoutTensor();
    *whole.mutable_embeddings() = TensorWithoutData();
    whole.mutable_embeddings()->set_data(payload);

    const std::string header = FrameHeader({{ResponseWithoutTensor(), v1::EmbedResponse::kEmbeddingsFieldNumber},
                                            {TensorWithoutData(), v1::Tensor::kDataFieldNumber}},
                                           size);

    EXPECT_TRUE(header + payload == whole.SerializeAsString());
  }
}

TEST(FrameHeader, NestsAsDeepAsAStreamItem) {
  for (const std::size_t size : kPayloadSizes) {
    SCOPED_TRACE(size);
    const std::string payload(size, 'x');
    v1::EmbedStreamResponse item;
    item.set_request_id("r");
    item.set_index(9);
    v1::EmbedStreamResponse whole = item;
    *whole.mutable_response() = ResponseWithoutTensor();
    *whole.mutable_response()->mutable_embeddings() = TensorWithoutData();
    whole.mutable_response()->mutable_embeddings()->set_data(payload);

    const std::string header = FrameHeader({{item, v1::EmbedStreamResponse::kResponseFieldNumber},
                                            {ResponseWithoutTensor(), v1::EmbedResponse::kEmbeddingsFieldNumber},
                                            {TensorWithoutData(), v1::Tensor::kDataFieldNumber}},
                                           size);

    EXPECT_TRUE(header + payload == whole.SerializeAsString());
  }
}

TEST(FrameHeader, OfAnEmptyPayloadReadsAsTheSameMessage) {
  const std::string header = FrameHeader({{ResponseWithoutTensor(), v1::EmbedResponse::kEmbeddingsFieldNumber},
                                          {TensorWithoutData(), v1::Tensor::kDataFieldNumber}},
                                         0);

  v1::EmbedResponse read;
  ASSERT_TRUE(read.ParseFromString(header));
  EXPECT_EQ(read.embeddings().shape_size(), 2);
  EXPECT_EQ(read.embeddings().data(), "");
}

}  // namespace
}  // namespace embd::wire
