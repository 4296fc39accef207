#include "proto/wire/rotate_reply.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/support/slice.h"
#include "tests/support/status_matchers.h"

namespace embd::wire {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

// The bytes as gRPC hands them over: in slices of five bytes.
grpc::ByteBuffer Received(const std::string& bytes) {
  std::vector<grpc::Slice> slices;
  for (std::size_t at = 0; at < bytes.size(); at += 5) slices.emplace_back(bytes.substr(at, 5));
  if (slices.empty()) slices.emplace_back();
  return grpc::ByteBuffer(slices.data(), slices.size());
}

v1::RotateResponse Response() {
  v1::RotateResponse response;
  response.set_model("m");
  response.set_attention_factor(1.25);
  response.mutable_vectors()->set_data_type(v1::DATA_TYPE_FLOAT32);
  response.mutable_vectors()->add_shape(1);
  response.mutable_vectors()->add_shape(2);
  response.mutable_vectors()->set_data("abcdefgh");
  return response;
}

TEST(RotateReply, FieldsAreReadAndTheElementsFound) {
  grpc::ByteBuffer bytes = Received(Response().SerializeAsString());

  ASSERT_OK_AND_ASSIGN(const RotateReply reply, ReadRotateReply(&bytes));

  EXPECT_EQ(reply.response.model(), "m");
  EXPECT_EQ(reply.response.attention_factor(), 1.25);
  EXPECT_EQ(reply.response.vectors().shape(1), 2);
  std::string out(reply.payload.size, '\0');
  ASSERT_THAT(CopyPayload(&bytes, reply.payload, std::as_writable_bytes(std::span(out))), IsOk());
  EXPECT_EQ(out, "abcdefgh");
}

TEST(RotateReply, TensorOfAnotherSizeThanItsShapeIsRefused) {
  v1::RotateResponse response = Response();
  response.mutable_vectors()->add_shape(3);
  grpc::ByteBuffer bytes = Received(response.SerializeAsString());

  EXPECT_THAT(ReadRotateReply(&bytes),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("8 bytes are no float32 tensor")));
}

TEST(RotateReply, CutAnywhereItIsReadOrRefused) {
  const std::string whole = Response().SerializeAsString();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    grpc::ByteBuffer bytes = Received(whole.substr(0, length));
    EXPECT_THAT(ReadRotateReply(&bytes), StatusIs(absl::StatusCode::kInternal, ::testing::_)) << length;
  }
}

}  // namespace
}  // namespace embd::wire
