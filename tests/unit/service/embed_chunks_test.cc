#include "server/service/embed_chunks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "grpcpp/support/slice.h"
#include "server/service/backend.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::service {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::ReasonIs;
using ::embd::testing::StatusIs;
using ::testing::AllOf;
using ::testing::ElementsAre;

absl::Status Alive() { return absl::OkStatus(); }

class EmbedChunksTest : public ::testing::Test {
 protected:
  static std::unique_ptr<Backend> MakeBackend(std::int64_t dim, std::int64_t max_bytes_in_flight = 64 << 20) {
    std::unique_ptr<Backend> backend(
        new Backend{.limits = {.max_batch_size = 4096, .max_sequence_length = 4096, .max_response_bytes = 1},
                    .max_request_bytes = 1 << 20,
                    .max_bytes_in_flight = max_bytes_in_flight,
                    .gate = Gate({.max_calls = 100, .max_request_bytes = 1 << 20}),
                    .buffers = ReplyBuffers::Create(max_bytes_in_flight, 1 << 20),
                    .workers = WorkerPool(1),
                    .diagnostics = WorkerPool(1)});
    backend->models.Put(
        core::Model::Create(
            {.name = "m",
             .token = core::ModelTable::Of(
                 testing::MakeFloatTable(1, dim, std::vector<float>(static_cast<std::size_t>(dim))), "test", true)})
            .value());
    return backend;
  }

  static v1::EmbedChunksRequest Request(std::int64_t batch, std::int64_t tokens) {
    v1::EmbedChunksRequest request;
    request.mutable_request()->set_model("m");
    request.mutable_request()->set_batch_size(batch);
    request.mutable_request()->set_sequence_length(tokens);
    for (std::int64_t i = 0; i < batch * tokens; ++i) request.mutable_request()->add_ids(0);
    return request;
  }

  struct Message {
    v1::EmbedChunksResponse fields;
    std::size_t size;
  };

  // All messages of a request.
  static std::vector<Message> Messages(Backend& backend, v1::EmbedChunksRequest request) {
    std::vector<Message> messages;
    auto chunks = EmbedChunks::Plan(backend, &request);
    EXPECT_THAT(chunks, IsOk());
    PhaseClock clock;
    while (chunks.ok() && !chunks->done()) {
      auto bytes = chunks->Next(backend, Alive, &clock);
      EXPECT_THAT(bytes, IsOk());
      if (!bytes.ok()) break;
      grpc::Slice slice;
      EXPECT_TRUE(bytes->DumpToSingleSlice(&slice).ok());
      Message message = {.size = slice.size()};
      EXPECT_TRUE(message.fields.ParseFromArray(slice.begin(), static_cast<int>(slice.size())));
      messages.push_back(std::move(message));
    }
    return messages;
  }

  static std::vector<std::int64_t> RowCounts(const std::vector<Message>& messages) {
    std::vector<std::int64_t> counts;
    for (const Message& message : messages) counts.push_back(message.fields.row_count());
    return counts;
  }
};

TEST_F(EmbedChunksTest, MessagesHaveWholeRowsOf126KibibytesUnlessToldOtherwise) {
  const auto backend = MakeBackend(768);

  const auto messages = Messages(*backend, Request(1, 100));

  EXPECT_THAT(RowCounts(messages), ElementsAre(42, 42, 16));
  for (const Message& message : messages) EXPECT_LT(message.size, 128u << 10);
  EXPECT_THAT(RowCounts(Messages(*backend, Request(1, 84))), ElementsAre(42, 42)) << "no empty one behind the last";
}

TEST_F(EmbedChunksTest, LongHeaderTakesItsRoomFromTheRows) {
  const auto backend = MakeBackend(768);
  v1::EmbedChunksRequest request = Request(0, 0);
  for (int i = 0; i < 4000; ++i) request.mutable_request()->add_row_lengths(i % 300 == 0 ? 10 : 0);
  for (int i = 0; i < 140; ++i) request.mutable_request()->add_ids(0);
  request.mutable_request()->set_ragged_layout(v1::RAGGED_LAYOUT_PACKED);

  const auto messages = Messages(*backend, request);

  EXPECT_THAT(RowCounts(messages), ElementsAre(41, 42, 42, 15));
  EXPECT_LT(messages[0].size, 128u << 10);
}

TEST_F(EmbedChunksTest, MessagesHaveNoMoreBytesOfRowsThanAskedForButARow) {
  const auto backend = MakeBackend(4);  // rows of 16 bytes
  v1::EmbedChunksRequest request = Request(1, 5);

  request.set_max_chunk_bytes(47);
  EXPECT_THAT(RowCounts(Messages(*backend, request)), ElementsAre(2, 2, 1));
  request.set_max_chunk_bytes(48);
  EXPECT_THAT(RowCounts(Messages(*backend, request)), ElementsAre(3, 2));
  request.set_max_chunk_bytes(1);
  EXPECT_THAT(RowCounts(Messages(*backend, request)), ElementsAre(1, 1, 1, 1, 1));
  request.set_max_chunk_bytes(EmbedChunks::kMaxChunkBytes);
  EXPECT_THAT(RowCounts(Messages(*backend, request)), ElementsAre(5));
}

TEST_F(EmbedChunksTest, MessagesFitIntoWhatMayBeInFlight) {
  const auto backend = MakeBackend(1024, /*max_bytes_in_flight=*/10'000);
  v1::EmbedChunksRequest request = Request(1, 5);
  request.set_max_chunk_bytes(1 << 20);

  EXPECT_THAT(RowCounts(Messages(*backend, request)), ElementsAre(2, 2, 1));
}

TEST_F(EmbedChunksTest, HeaderIsInTheFirstMessageOfTheCallOnly) {
  const auto backend = MakeBackend(4);
  v1::EmbedChunksRequest request = Request(1, 5);
  request.set_max_chunk_bytes(32);
  request.set_first_row(1);

  const auto messages = Messages(*backend, request);

  ASSERT_EQ(messages.size(), 2u);
  EXPECT_TRUE(messages[0].fields.has_header());
  EXPECT_EQ(messages[0].fields.header().total_rows(), 5);
  EXPECT_EQ(messages[0].fields.header().total_bytes(), 80);
  EXPECT_EQ(messages[0].fields.first_row(), 1);
  EXPECT_FALSE(messages[0].fields.last());
  EXPECT_FALSE(messages[1].fields.has_header());
  EXPECT_EQ(messages[1].fields.first_row(), 3);
  EXPECT_TRUE(messages[1].fields.last());
}

TEST_F(EmbedChunksTest, CallWithoutRowsLeftIsOneEmptyMessage) {
  const auto backend = MakeBackend(4);
  v1::EmbedChunksRequest behind = Request(1, 5);
  behind.set_first_row(5);
  for (const v1::EmbedChunksRequest& request : {behind, Request(0, 3)}) {
    const auto messages = Messages(*backend, request);

    ASSERT_EQ(messages.size(), 1u);
    EXPECT_TRUE(messages[0].fields.has_header());
    EXPECT_EQ(messages[0].fields.row_count(), 0);
    EXPECT_EQ(messages[0].fields.data(), "");
    EXPECT_TRUE(messages[0].fields.last());
  }
}

TEST_F(EmbedChunksTest, OptionsOutOfRangeAreRefused) {
  const auto backend = MakeBackend(4);
  const auto refusal = [&backend](void (*change)(v1::EmbedChunksRequest*)) {
    v1::EmbedChunksRequest request = Request(1, 5);
    change(&request);
    return EmbedChunks::Plan(*backend, &request).status();
  };
  constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

  EXPECT_THAT(
      refusal([](auto* request) { request->set_first_row(-1); }),
      AllOf(StatusIs(kInvalid, "first_row -1 is outside [0, 5], the rows of the result"), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(refusal([](auto* request) { request->set_first_row(6); }),
              StatusIs(kInvalid, "first_row 6 is outside [0, 5], the rows of the result"));
  EXPECT_THAT(refusal([](auto* request) { request->set_max_chunk_bytes(-1); }),
              AllOf(StatusIs(kInvalid, "max_chunk_bytes -1 is outside [0, 1073741824]"), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(refusal([](auto* request) { request->set_max_chunk_bytes((std::int64_t{1} << 30) + 1); }),
              StatusIs(kInvalid, "max_chunk_bytes 1073741825 is outside [0, 1073741824]"));
  EXPECT_THAT(refusal([](auto* request) { request->mutable_request()->set_unique(true); }),
              AllOf(StatusIs(kInvalid, "unique is for Embed, not for EmbedChunks"), ReasonIs("INVALID_OPTION")));
  EXPECT_THAT(refusal([](auto* request) { request->mutable_request()->mutable_output_target(); }),
              AllOf(StatusIs(kInvalid, "output_target is for Embed, not for EmbedChunks"), ReasonIs("INVALID_OPTION")));
}

TEST_F(EmbedChunksTest, WantOfRoomMidwayIsTheRefusalOfTheNextMessage) {
  const auto backend = MakeBackend(1024, /*max_bytes_in_flight=*/16'384);
  v1::EmbedChunksRequest request = Request(1, 5);
  request.set_max_chunk_bytes(8192);
  auto chunks = EmbedChunks::Plan(*backend, &request);
  ASSERT_THAT(chunks, IsOk());

  PhaseClock clock;
  const auto first = chunks->Next(*backend, Alive, &clock);
  const auto second = chunks->Next(*backend, Alive, &clock);

  EXPECT_THAT(first, IsOk());
  EXPECT_THAT(second, IsOk());
  EXPECT_THAT(chunks->Next(*backend, Alive, &clock), ReasonIs("OVERLOADED"));
}

TEST_F(EmbedChunksTest, LongRequestCountsAsLongAsTheCallLasts) {
  const auto backend = MakeBackend(1);
  v1::EmbedChunksRequest request = Request(16, 1024);
  {
    const auto chunks = EmbedChunks::Plan(*backend, &request);
    EXPECT_THAT(chunks, IsOk());
    EXPECT_EQ(backend->buffers->bytes_in_flight(), 16 * 1024 * 8);
  }
  EXPECT_EQ(backend->buffers->bytes_in_flight(), 0);
}

TEST_F(EmbedChunksTest, LongRequestsThatDoNotFitBesideEachOtherAreRefused) {
  const auto backend = MakeBackend(1, 200 << 10);
  v1::EmbedChunksRequest request = Request(16, 1024), too_long = Request(32, 1024);
  const auto chunks = EmbedChunks::Plan(*backend, &request);

  EXPECT_THAT(EmbedChunks::Plan(*backend, &request), ReasonIs("OVERLOADED"));
  EXPECT_THAT(EmbedChunks::Plan(*backend, &too_long), ReasonIs("REQUEST_TOO_LARGE"));
  EXPECT_THAT(RowCounts(Messages(*backend, Request(1, 10))), ElementsAre(10));
}

TEST_F(EmbedChunksTest, CallThatIsDeadTakesNoMemory) {
  const auto backend = MakeBackend(4);
  v1::EmbedChunksRequest request = Request(1, 5);
  auto chunks = EmbedChunks::Plan(*backend, &request);
  ASSERT_THAT(chunks, IsOk());

  PhaseClock clock;
  EXPECT_THAT(chunks->Next(
                  *backend, [] { return absl::CancelledError("gone"); }, &clock),
              StatusIs(absl::StatusCode::kCancelled, "gone"));
  EXPECT_EQ(backend->buffers->allocations(), 0);
}

TEST_F(EmbedChunksTest, ResultMayHaveMoreBytesThanAMessageCan) {
  const auto backend = MakeBackend(1 << 18);  // rows of a MiB
  v1::EmbedChunksRequest request = Request(1, 3000);
  request.set_first_row(2999);

  const auto messages = Messages(*backend, request);

  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].fields.header().total_bytes(), std::int64_t{3000} << 20);
  EXPECT_EQ(messages[0].fields.data().size(), std::size_t{1} << 20);
}

TEST_F(EmbedChunksTest, ManyNarrowRowsAreLargeThoughTheirBytesAreFew) {
  const auto backend = MakeBackend(1);
  v1::EmbedChunksRequest few = Request(16, 1024), many = Request(17, 1024);

  EXPECT_FALSE(EmbedChunks::Plan(*backend, &few)->AreLarge());
  EXPECT_TRUE(EmbedChunks::Plan(*backend, &many)->AreLarge());
}

TEST_F(EmbedChunksTest, AreLargeByTheirMessagesNotByTheirSum) {
  const auto backend = MakeBackend(1024);  // rows of 4 KiB
  v1::EmbedChunksRequest request = Request(1, 300);
  EXPECT_FALSE(EmbedChunks::Plan(*backend, &request)->AreLarge());
  request = Request(1, 300);
  request.set_max_chunk_bytes(1 << 20);
  EXPECT_FALSE(EmbedChunks::Plan(*backend, &request)->AreLarge());
  request = Request(1, 300);
  request.set_max_chunk_bytes((1 << 20) + 4096);
  EXPECT_TRUE(EmbedChunks::Plan(*backend, &request)->AreLarge());
}

}  // namespace
}  // namespace embd::service
