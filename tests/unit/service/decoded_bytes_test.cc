#include "server/service/decoded_bytes.h"

#include <string>
#include <vector>

#include "embd/v1/bags.pb.h"
#include "embd/v1/diagnostics.pb.h"
#include "embd/v1/embedding.pb.h"
#include "embd/v1/rotary.pb.h"
#include "gmock/gmock.h"
#include "google/protobuf/message.h"
#include "inference/grpc_service.pb.h"

namespace embd::service {
namespace {

grpc::ByteBuffer ToBuffer(const std::string& bytes) {
  const std::size_t half = bytes.size() / 2;  // over two slices
  const grpc::Slice slices[] = {grpc::Slice(bytes.substr(0, half)), grpc::Slice(bytes.substr(half))};
  return {slices, 2};
}

// Protobuf's own account of what it has made of the bytes.
template <typename Message>
void ExpectBoundOf(const std::string& bytes) {
  Message decoded;
  ASSERT_TRUE(decoded.ParseFromString(bytes));

  EXPECT_GE(DecodedBytes(ToBuffer(bytes), *Message::descriptor()) + static_cast<std::int64_t>(sizeof(Message)),
            static_cast<std::int64_t>(decoded.SpaceUsedLong()));
}

template <typename Message>
void ExpectBound(const Message& sent) {
  ExpectBoundOf<Message>(sent.SerializeAsString());
}

constexpr int kMany = 10'000;

TEST(DecodedBytes, BoundManyShortStrings) {
  v1::LookUpTokensRequest request;
  for (int i = 0; i < kMany; ++i) request.add_tokens("");
  ExpectBound(request);
  for (int i = 0; i < kMany; ++i) request.add_tokens("sixteen letters!");
  ExpectBound(request);
}

TEST(DecodedBytes, BoundManyEmptyMessages) {
  inference::ModelInferRequest request;
  for (int i = 0; i < kMany; ++i) request.add_inputs();
  ExpectBound(request);
  for (int i = 0; i < kMany; ++i) request.mutable_inputs(i)->mutable_contents();
  ExpectBound(request);
}

TEST(DecodedBytes, BoundMapsAndBytesContents) {
  inference::ModelInferRequest request;
  auto* const input = request.add_inputs();
  for (int i = 0; i < kMany; ++i) (*request.mutable_parameters())[std::to_string(i)];
  for (int i = 0; i < kMany; ++i) input->mutable_contents()->add_bytes_contents("");
  ExpectBound(request);
}

TEST(DecodedBytes, BoundVarints) {
  v1::EmbedRequest request;
  for (int i = 0; i < kMany; ++i) request.add_ids(i % 3 == 0 ? 1 : 300);
  ExpectBound(request);
}

// A sender may write each of them with a tag of its own.
TEST(DecodedBytes, BoundNumbersOfAFixedWidth) {
  const char weight[] = {4 << 3 | 5, 0, 0, 0, 0};               // fixed32, Bag.weights
  const char factor[] = {13 << 3 | 1, 0, 0, 0, 0, 0, 0, 0, 0};  // fixed64, RotaryScaling.short_factor
  std::string weights;
  std::string factors;
  for (int i = 0; i < kMany; ++i) {
    weights.append(weight, sizeof(weight));
    factors.append(factor, sizeof(factor));
  }
  ExpectBoundOf<v1::Bag>(weights);
  ExpectBoundOf<v1::RotaryScaling>(factors);
}

TEST(DecodedBytes, OfARawTensorAreHardlyMoreThanItsBytes) {
  v1::EmbedRequest request;
  request.mutable_ids_tensor()->set_data(std::string(1 << 20, 'x'));

  EXPECT_LE(DecodedBytes(ToBuffer(request.SerializeAsString()), *v1::EmbedRequest::descriptor()), (1 << 20) + 1024);
}

TEST(DecodedBytes, OfBytesThatAreNoMessageEndWhereItIsFoundOut) {
  EXPECT_EQ(DecodedBytes(ToBuffer("\x0B\x0B"), *v1::EmbedRequest::descriptor()), 0);
  EXPECT_LE(DecodedBytes(ToBuffer("\x0A\xFF\xFF\xFF\xFF\x07"), *v1::EmbedRequest::descriptor()),
            (std::int64_t{1} << 31) + 1024);
}

}  // namespace
}  // namespace embd::service
