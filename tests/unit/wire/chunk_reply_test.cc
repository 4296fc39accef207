#include "proto/wire/chunk_reply.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/support/slice.h"
#include "tests/support/status_matchers.h"

namespace embd::wire {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kInternal = absl::StatusCode::kInternal;

// The bytes as gRPC hands them over: in slices of `slice_size` bytes.
grpc::ByteBuffer Received(const std::string& bytes, std::size_t slice_size = 7) {
  std::vector<grpc::Slice> slices;
  for (std::size_t at = 0; at < bytes.size(); at += slice_size) slices.emplace_back(bytes.substr(at, slice_size));
  if (slices.empty()) slices.emplace_back();
  return {slices.data(), slices.size()};
}

// Rows [0, 2) of a (2, 2, 3) float32 tensor.
v1::EmbedChunksResponse FirstBlock() {
  v1::EmbedChunksResponse message;
  v1::EmbedChunksHeader& header = *message.mutable_header();
  header.set_model("m");
  header.set_checksum("c");
  header.set_data_type(v1::DATA_TYPE_FLOAT32);
  for (const int extent : {2, 2, 3}) header.add_shape(extent);
  header.set_total_rows(4);
  header.set_total_bytes(48);
  message.set_row_count(2);
  for (int i = 0; i < 24; ++i) message.mutable_data()->push_back(static_cast<char>(i));
  return message;
}

std::string Shown(grpc::ByteBuffer* bytes, const Payload& payload) {
  std::string shown;
  EXPECT_THAT(VisitPayload(bytes, payload,
                           [&shown](std::span<const std::byte> piece) {
                             EXPECT_FALSE(piece.empty());
                             shown.append(reinterpret_cast<const char*>(piece.data()), piece.size());
                             return absl::OkStatus();
                           }),
              IsOk());
  return shown;
}

TEST(ChunkReply, ReadsFieldsAndFindsRowsWhateverTheSlices) {
  const v1::EmbedChunksResponse sent = FirstBlock();
  for (const std::size_t slice_size : {1u, 2u, 7u, 64u, 100'000u}) {
    SCOPED_TRACE(slice_size);
    grpc::ByteBuffer bytes = Received(sent.SerializeAsString(), slice_size);

    ASSERT_OK_AND_ASSIGN(ChunkReply reply, ReadChunkReply(&bytes));

    EXPECT_EQ(reply.message.data(), "") << "the rows are not copied";
    EXPECT_EQ(Shown(&bytes, reply.payload), sent.data());
    reply.message.set_data(sent.data());
    EXPECT_EQ(reply.message.SerializeAsString(), sent.SerializeAsString());
  }
}

TEST(ChunkReply, MayHaveNoHeaderAndNoRows) {
  v1::EmbedChunksResponse sent;
  sent.set_first_row(4);
  sent.set_last(true);
  grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

  ASSERT_OK_AND_ASSIGN(const ChunkReply reply, ReadChunkReply(&bytes));

  EXPECT_EQ(reply.message.SerializeAsString(), sent.SerializeAsString());
  EXPECT_EQ(reply.payload.size, 0u);
}

TEST(ChunkReply, HeaderWhoseTotalsContradictItsShapeIsRefused) {
  const auto refuse = [](void (*change)(v1::EmbedChunksHeader*)) {
    v1::EmbedChunksResponse sent = FirstBlock();
    change(sent.mutable_header());
    grpc::ByteBuffer bytes = Received(sent.SerializeAsString());
    EXPECT_THAT(ReadChunkReply(&bytes), StatusIs(kInternal, HasSubstr("bytes in all are no")));
  };
  refuse([](v1::EmbedChunksHeader* header) { header->set_total_rows(5); });
  refuse([](v1::EmbedChunksHeader* header) { header->set_total_bytes(47); });
  refuse([](v1::EmbedChunksHeader* header) { header->set_data_type(v1::DATA_TYPE_FLOAT16); });
  refuse([](v1::EmbedChunksHeader* header) { header->set_data_type(static_cast<v1::DataType>(99)); });
  refuse([](v1::EmbedChunksHeader* header) { header->set_data_type(v1::DATA_TYPE_UNSPECIFIED); });
  refuse([](v1::EmbedChunksHeader* header) { header->clear_shape(); });
  refuse([](v1::EmbedChunksHeader* header) {  // (-2) x (-2) x 3
    header->set_shape(0, -2);
    header->set_shape(1, -2);
  });
  refuse([](v1::EmbedChunksHeader* header) {  // 2^64 + 4 rows
    header->set_shape(0, (std::int64_t{1} << 62) + 1);
    header->set_shape(1, 4);
  });
  refuse([](v1::EmbedChunksHeader* header) {  // 2^64 bytes
    header->set_shape(2, std::int64_t{1} << 60);
    header->set_total_bytes(0);
  });
}

TEST(ChunkReply, MayBelongToATensorOverTwoToThe31Bytes) {
  v1::EmbedChunksResponse sent = FirstBlock();
  sent.mutable_header()->set_shape(0, std::int64_t{1} << 40);
  sent.mutable_header()->set_total_rows(std::int64_t{1} << 41);
  sent.mutable_header()->set_total_bytes((std::int64_t{1} << 41) * 12);
  grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

  ASSERT_OK_AND_ASSIGN(const ChunkReply reply, ReadChunkReply(&bytes));

  EXPECT_THAT(reply.message.header().shape(), ElementsAre(std::int64_t{1} << 40, 2, 3));
}

TEST(ChunkReply, NegativeRowsAreRefused) {
  for (const auto& [first_row, row_count] : {std::pair{-1, 2}, std::pair{0, -2}}) {
    v1::EmbedChunksResponse sent = FirstBlock();
    sent.set_first_row(first_row);
    sent.set_row_count(row_count);
    grpc::ByteBuffer bytes = Received(sent.SerializeAsString());

    EXPECT_THAT(ReadChunkReply(&bytes), StatusIs(kInternal, HasSubstr("a block of")));
  }
}

TEST(ChunkReply, WithoutMessageIsRefused) {
  grpc::ByteBuffer none;

  EXPECT_THAT(ReadChunkReply(&none), StatusIs(kInternal, HasSubstr("no message")));
}

// Whatever one byte becomes, or where the bytes end, the outcome is an answer within the buffer or an error; the
// sanitizers watch.
TEST(ChunkReply, WithAnyByteChangedOrCutIsReadWithinItsBounds) {
  const std::string whole = FirstBlock().SerializeAsString();
  const auto read = [](const std::string& sent) {
    grpc::ByteBuffer bytes = Received(sent);
    const auto reply = ReadChunkReply(&bytes);
    if (!reply.ok()) {
      EXPECT_EQ(reply.status().code(), kInternal);
      return;
    }
    ASSERT_LE(reply->payload.offset + reply->payload.size, sent.size());
    EXPECT_EQ(Shown(&bytes, reply->payload), sent.substr(reply->payload.offset, reply->payload.size));
  };
  for (std::size_t at = 0; at < whole.size(); ++at) {
    read(whole.substr(0, at));
    for (int value = 0; value < 256; ++value) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      read(changed);
    }
  }
}

TEST(VisitPayload, RefusesAPlaceOutsideTheBytes) {
  grpc::ByteBuffer bytes = Received("0123456789");
  const auto visit = [](std::span<const std::byte>) { return absl::OkStatus(); };

  EXPECT_THAT(VisitPayload(&bytes, {.offset = 10, .size = 0}, visit), IsOk());
  EXPECT_THAT(VisitPayload(&bytes, {.offset = 3, .size = 8}, visit), StatusIs(kInternal, HasSubstr("not where")));
  EXPECT_THAT(VisitPayload(&bytes, {.offset = 11, .size = 0}, visit), StatusIs(kInternal, HasSubstr("not where")));
  EXPECT_THAT(VisitPayload(&bytes, {.offset = SIZE_MAX, .size = 1}, visit),
              StatusIs(kInternal, HasSubstr("not where")));
}

TEST(VisitPayload, EndsWithWhatTheVisitorSays) {
  grpc::ByteBuffer bytes = Received(std::string(400, 'x'), 100);  // gRPC joins shorter slices
  int calls = 0;

  const absl::Status status = VisitPayload(&bytes, {.offset = 1, .size = 398}, [&calls](std::span<const std::byte>) {
    return ++calls < 3 ? absl::OkStatus() : absl::AbortedError("enough");
  });

  EXPECT_THAT(status, StatusIs(absl::StatusCode::kAborted, "enough"));
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace embd::wire
