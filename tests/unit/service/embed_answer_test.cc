#include "server/service/embed_answer.h"

#include <memory>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/table_builder.h"

namespace embd::service {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;

// A (B, 1) batch for a model of three rows.
core::EmbedPlan Plan(std::int64_t batch_size = 2) {
  auto model = core::Model::Create(
      {.name = "m", .token = core::ModelTable::Of(testing::MakeFloatTable(3, 2, {1, 2, 3, 4, 5, 6}), "test", true)});
  core::EmbedInput input = {.batch_size = batch_size,
                            .sequence_length = 1,
                            .ids = std::vector<std::int64_t>(static_cast<std::size_t>(batch_size), 2)};
  return core::EmbedPlan::Create(*std::move(model), std::move(input),
                                 {.max_batch_size = 10, .max_sequence_length = 10, .max_response_bytes = 1 << 20})
      .value();
}

std::unique_ptr<Backend> MakeBackend() {
  return std::unique_ptr<Backend>(new Backend{.max_request_bytes = 1 << 20,
                                              .max_bytes_in_flight = 1 << 20,
                                              .gate = Gate({.max_calls = 100, .max_request_bytes = 1 << 20}),
                                              .buffers = ReplyBuffers::Create(1 << 20, 1 << 20),
                                              .workers = WorkerPool(1),
                                              .diagnostics = WorkerPool(1)});
}

TEST(ComposeReply, CallThatIsDeadAlreadyTakesNoMemory) {
  const auto backend = MakeBackend();

  EXPECT_THAT(ComposeReply(*backend, Plan(), [] { return absl::CancelledError("gone"); }),
              StatusIs(absl::StatusCode::kCancelled, "gone"));
  EXPECT_EQ(backend->buffers->allocations(), 0);
}

TEST(ComposeReply, MemoryCountsUntilTheFramedReplyIsLetGo) {
  const auto backend = MakeBackend();
  const core::EmbedPlan plan = Plan();
  {
    auto buffer = ComposeReply(*backend, plan, [] { return absl::OkStatus(); });
    ASSERT_THAT(buffer, IsOk());
    const grpc::ByteBuffer reply = FrameReply(plan, *std::move(buffer));
    EXPECT_EQ(backend->buffers->bytes_in_flight(), 4096);
  }
  EXPECT_EQ(backend->buffers->bytes_in_flight(), 0);
}

// Not so many rows together that there is one more than a whole group of them.
TEST(ComposeInto, SmallBatchIsOnePiece) {
  const auto backend = MakeBackend();
  for (std::int64_t batch_size = 1; batch_size <= 10; ++batch_size) {
    const core::EmbedPlan plan = Plan(batch_size);
    std::vector<std::byte> out(plan.byte_size());
    int looks = 0;  // one after each of several pieces

    EXPECT_THAT(ComposeInto(*backend, plan, 0, batch_size, out, core::Stores::kCached,
                            [&] {
                              ++looks;
                              return absl::OkStatus();
                            }),
                IsOk());

    EXPECT_EQ(looks, 0) << batch_size;
  }
}

}  // namespace
}  // namespace embd::service
