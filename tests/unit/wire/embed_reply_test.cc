#include "proto/wire/embed_reply.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "grpcpp/support/slice.h"
#include "tests/support/status_matchers.h"

namespace embd::wire {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The bytes as gRPC hands them over: in slices of `slice_size` bytes.
grpc::ByteBuffer Received(const std::string& bytes, std::size_t slice_size = 7) {
  std::vector<grpc::Slice> slices;
  for (std::size_t at = 0; at < bytes.size(); at += slice_size) slices.emplace_back(bytes.substr(at, slice_size));
  if (slices.empty()) slices.emplace_back();
  return grpc::ByteBuffer(slices.data(), slices.size());
}

// A field whose encoding is its length and its bytes; numbers below 2048.
std::string Field(int number, const std::string& content) {
  std::string bytes;
  const int tag = number << 3 | 2;
  if (tag >= 0x80) {
    bytes += static_cast<char>((tag & 0x7F) | 0x80);
    bytes += static_cast<char>(tag >> 7);
  } else {
    bytes += static_cast<char>(tag);
  }
  for (std::size_t size = content.size();; size >>= 7) {
    if (size < 0x80) return bytes + static_cast<char>(size) + content;
    bytes += static_cast<char>((size & 0x7F) | 0x80);
  }
}

v1::EmbedResponse Response(int batch, int tokens, int dim) {
  v1::EmbedResponse response;
  response.set_model("m");
  response.set_model_version("1");
  response.set_generation(3);
  response.add_warnings("w");
  v1::Tensor& tensor = *response.mutable_embeddings();
  tensor.set_data_type(v1::DATA_TYPE_FLOAT32);
  for (const int extent : {batch, tokens, dim}) tensor.add_shape(extent);
  for (int i = 0; i < 4 * batch * tokens * dim; ++i) tensor.mutable_data()->push_back(static_cast<char>(i));
  return response;
}

std::string Copied(grpc::ByteBuffer* bytes, const Payload& payload) {
  std::string out(payload.size, '\0');
  EXPECT_THAT(CopyPayload(bytes, payload, std::as_writable_bytes(std::span(out))), IsOk());
  return out;
}

TEST(EmbedReply, ReadsFieldsAndFindsElementsWhateverTheSlices) {
  const v1::EmbedResponse sent = Response(2, 3, 5);
  for (const std::size_t slice_size : {1u, 2u, 7u, 64u, 100'000u}) {
    SCOPED_TRACE(slice_size);
    grpc::ByteBuffer bytes = Received(sent.SerializeAsString(), slice_size);

    ASSERT_OK_AND_ASSIGN(EmbedReply reply, ReadEmbedReply(&bytes));
    reply.response.mutable_embeddings()->set_data(Copied(&bytes, reply.payload));

    EXPECT_EQ(reply.response.SerializeAsString(), sent.SerializeAsString());
  }
}

TEST(EmbedReply, MayHaveItsElementsElsewhereIfTheirSizeFits) {
  v1::EmbedResponse sent = Response(2, 3, 5);
  sent.mutable_embeddings()->clear_data();
  sent.mutable_written()->set_region("r");
  for (const std::int64_t size : {0, 119, 120, 121, -120}) {
    sent.mutable_written()->set_byte_size(size);
    grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

    const auto reply = ReadEmbedReply(&bytes);

    EXPECT_EQ(reply.ok(), size == 120) << size;
    if (reply.ok()) {
      EXPECT_EQ(reply->payload.size, 0u);
      EXPECT_EQ(reply->response.written().region(), "r");
    }
  }
}

TEST(EmbedReply, MayHaveElementsBeforeTypeAndShape) {
  const v1::EmbedResponse sent = Response(1, 1, 2);
  v1::Tensor rest = sent.embeddings();
  rest.clear_data();
  v1::EmbedResponse others = sent;
  others.clear_embeddings();
  grpc::ByteBuffer bytes =
      Received(Field(100, Field(15, sent.embeddings().data()) + rest.SerializeAsString()) + others.SerializeAsString());

  ASSERT_OK_AND_ASSIGN(const EmbedReply reply, ReadEmbedReply(&bytes));

  EXPECT_EQ(reply.response.model(), "m");
  EXPECT_THAT(reply.response.embeddings().shape(), ElementsAre(1, 1, 2));
  EXPECT_EQ(Copied(&bytes, reply.payload), sent.embeddings().data());
}

TEST(EmbedReply, MergesATensorThatIsGivenInTwoParts) {
  const v1::EmbedResponse sent = Response(1, 1, 2);
  v1::Tensor rest = sent.embeddings();
  rest.clear_data();
  grpc::ByteBuffer bytes = Received(Field(100, rest.SerializeAsString() + Field(15, "an earlier value")) +
                                    Field(100, Field(15, sent.embeddings().data())));

  ASSERT_OK_AND_ASSIGN(const EmbedReply reply, ReadEmbedReply(&bytes));

  EXPECT_THAT(reply.response.embeddings().shape(), ElementsAre(1, 1, 2));
  EXPECT_EQ(Copied(&bytes, reply.payload), sent.embeddings().data());
}

TEST(EmbedReply, KeepsFieldsThatItDoesNotKnow) {
  const std::string unknown =
      Field(77, "later") + std::string("\xFB\x06\x08\x01\xFC\x06", 6);  // and a group of number 111
  grpc::ByteBuffer bytes = Received(unknown + Response(1, 1, 2).SerializeAsString());

  ASSERT_OK_AND_ASSIGN(const EmbedReply reply, ReadEmbedReply(&bytes));

  EXPECT_EQ(reply.payload.size, 8u);
}

TEST(EmbedReply, MayBeAnEmptyTensorWithoutElements) {
  grpc::ByteBuffer bytes = Received(Response(0, 4, 8).SerializeAsString());

  ASSERT_OK_AND_ASSIGN(const EmbedReply reply, ReadEmbedReply(&bytes));

  EXPECT_EQ(reply.payload.size, 0u);
  EXPECT_EQ(Copied(&bytes, reply.payload), "");
}

TEST(EmbedReply, CutAtAnyByteIsRefused) {
  v1::EmbedResponse sent = Response(1, 2, 3);
  const std::string whole = sent.SerializeAsString();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    grpc::ByteBuffer bytes = Received(whole.substr(0, size));

    EXPECT_THAT(ReadEmbedReply(&bytes), StatusIs(absl::StatusCode::kInternal, HasSubstr("makes no sense")));
  }
}

// Whatever one byte becomes, the outcome is an answer within the buffer or an error; the sanitizers watch.
TEST(EmbedReply, WithAnyByteChangedIsReadWithinItsBounds) {
  const std::string whole = Response(1, 2, 3).SerializeAsString();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      grpc::ByteBuffer bytes = Received(changed);

      const auto reply = ReadEmbedReply(&bytes);

      if (reply.ok()) {
        ASSERT_LE(reply->payload.offset + reply->payload.size, whole.size());
        Copied(&bytes, reply->payload);
      } else {
        ASSERT_EQ(reply.status().code(), absl::StatusCode::kInternal);
      }
    }
  }
}

TEST(EmbedReply, WithLengthsBeyondItsEndIsRefused) {
  const std::string huge("\xFF\xFF\xFF\xFF\x07", 5);  // 2^31 - 1
  for (const std::string& hostile : {
           std::string("\xA2\x06", 2) + huge,                                    // the tensor
           std::string("\xA2\x06\x06\x7A", 4) + huge,                            // its elements
           std::string("\xA2\x06\x02\x7A\x40", 5) + std::string(100, 'x'),       // elements longer than their tensor
           std::string("\x0A", 1) + huge,                                        // a field that is only collected
           std::string("\xA2\x06\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", 12),  // a length of 64 bits
           std::string("\xA2\x06\x01\x7C", 4),                                   // the end of a group that never began
           std::string("\x00\x00", 2),                                           // field number 0
           std::string(1000, '\x0B'),                                            // groups without end
       }) {
    SCOPED_TRACE(hostile.substr(0, 12));
    grpc::ByteBuffer bytes = Received(hostile);

    EXPECT_THAT(ReadEmbedReply(&bytes), StatusIs(absl::StatusCode::kInternal, HasSubstr("no such message")));
  }
}

TEST(EmbedReply, WhoseSizeAndShapeDifferIsRefusedAndNamesBoth) {
  v1::EmbedResponse sent = Response(1, 2, 3);
  sent.mutable_embeddings()->mutable_data()->pop_back();
  grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

  EXPECT_THAT(ReadEmbedReply(&bytes),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("23 bytes are no float32 tensor of shape (1, 2, 3)")));
}

TEST(EmbedReply, WithAnImpossibleShapeIsRefused) {
  for (const std::vector<std::int64_t>& shape :
       {std::vector<std::int64_t>{-1, -6}, {INT64_MAX, INT64_MAX, 6}, {std::int64_t{1} << 62, 4, 6}, {}}) {
    SCOPED_TRACE(::testing::PrintToString(shape));
    v1::EmbedResponse sent = Response(1, 2, 3);
    sent.mutable_embeddings()->mutable_shape()->Assign(shape.begin(), shape.end());
    grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

    EXPECT_THAT(ReadEmbedReply(&bytes), StatusIs(absl::StatusCode::kInternal, HasSubstr("24 bytes are no")));
  }
}

TEST(EmbedReply, OfUnknownTypeIsRefused) {
  v1::EmbedResponse sent = Response(1, 2, 3);
  sent.mutable_embeddings()->set_data_type(static_cast<v1::DataType>(99));
  grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

  EXPECT_THAT(ReadEmbedReply(&bytes), StatusIs(absl::StatusCode::kInternal, HasSubstr("no unknown tensor")));
}

TEST(EmbedReply, WithoutMessageIsRefused) {
  grpc::ByteBuffer bytes;

  EXPECT_THAT(ReadEmbedReply(&bytes), StatusIs(absl::StatusCode::kInternal, HasSubstr("no message")));
}

TEST(StreamReply, ReadsAResponse) {
  v1::EmbedStreamResponse sent;
  sent.set_request_id("r");
  sent.set_index(9);
  *sent.mutable_response() = Response(2, 3, 5);
  grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

  ASSERT_OK_AND_ASSIGN(StreamReply reply, ReadStreamReply(&bytes));
  reply.item.mutable_response()->mutable_embeddings()->set_data(Copied(&bytes, reply.payload));

  EXPECT_EQ(reply.item.SerializeAsString(), sent.SerializeAsString());
}

TEST(StreamReply, ReadsAnError) {
  v1::EmbedStreamResponse sent;
  sent.set_index(9);
  sent.mutable_error()->set_reason("ID_OUT_OF_RANGE");
  grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

  ASSERT_OK_AND_ASSIGN(const StreamReply reply, ReadStreamReply(&bytes));

  EXPECT_EQ(reply.item.error().reason(), "ID_OUT_OF_RANGE");
  EXPECT_EQ(reply.payload.size, 0u);
}

TEST(StreamReply, ThatIsNeitherErrorNorResponseIsRefused) {
  v1::EmbedStreamResponse sent;
  sent.set_index(9);
  grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

  EXPECT_THAT(ReadStreamReply(&bytes), StatusIs(absl::StatusCode::kInternal, HasSubstr("not one of")));
}

TEST(StreamReply, CutAtAnyByteIsRefused) {
  v1::EmbedStreamResponse sent;
  *sent.mutable_response() = Response(1, 2, 3);
  const std::string whole = sent.SerializeAsString();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    SCOPED_TRACE(size);
    grpc::ByteBuffer bytes = Received(whole.substr(0, size));

    EXPECT_THAT(ReadStreamReply(&bytes), StatusIs(absl::StatusCode::kInternal, HasSubstr("makes no sense")));
  }
}

TEST(CopyPayload, RefusesAPlaceOutsideTheBytes) {
  grpc::ByteBuffer bytes = Received("0123456789");
  std::vector<std::byte> out(4);

  EXPECT_THAT(CopyPayload(&bytes, {.offset = 7, .size = 4}, out), StatusIs(absl::StatusCode::kInternal, HasSubstr("")));
  EXPECT_THAT(CopyPayload(&bytes, {.offset = 0, .size = 5}, out), StatusIs(absl::StatusCode::kInternal, HasSubstr("")));
}

}  // namespace
}  // namespace embd::wire
