#include "client/cli/load/load_run.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "embd/client/error.h"
#include "embd/client/fake_transport.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace embd::cli {
namespace {

using ::embd::testing::StatusIs;
using ::testing::HasSubstr;

// A clock that stands still but for sleeps, and for what the server below takes.
class ManualClock {
 public:
  absl::Duration Now() {
    const std::lock_guard lock(mutex_);
    return now_;
  }
  void Advance(absl::Duration time) {
    const std::lock_guard lock(mutex_);
    now_ += time;
  }

 private:
  std::mutex mutex_;
  absl::Duration now_;
};

// A server whose calls take time by that clock: 1 ms each, and call `stalled` as long as `stall` says.
class SlowServer final : public client::FakeTransport {
 public:
  explicit SlowServer(ManualClock* clock) : clock_(clock) {
    AddModel({.name = "m", .embedding_dim = 2, .token = {0, 1, 2, 3}});
  }

  absl::StatusOr<client::EmbedInfo> Embed(const client::EmbedRequest& request, const Place& place,
                                          const client::CallOptions& options) override {
    clock_->Advance(number_++ == stalled ? stall : absl::Milliseconds(1));
    return FakeTransport::Embed(request, place, options);
  }

  int stalled = -1;
  absl::Duration stall;

 private:
  ManualClock* const clock_;
  std::atomic<int> number_ = 0;
};

enum class Mode { kBlocking, kStream, kFilledStream, kAsync };

class LoadTest : public ::testing::Test {
 protected:
  std::unique_ptr<Caller> MakeCaller(Mode mode) {
    const client::Client client(server_);
    if (mode == Mode::kStream) return MakeStreamCaller(client, 4);
    if (mode == Mode::kFilledStream) return MakeFilledStreamCaller(client, 4);
    if (mode == Mode::kAsync) return MakeAsyncCaller(client, 4);
    return MakeBlockingCaller(MakeUnaryCall(client, 1024));
  }

  absl::StatusOr<LoadResult> RunWith(Mode mode, int callers, const PaceSettings& pace, const LoadWatch& watch) {
    Load load{.batches = RandomBatches(plan_), .pace = pace};
    for (int i = 0; i < callers; ++i) load.callers.push_back(MakeCaller(mode));
    return RunLoad(
        std::move(load),
        {.now = [this] { return clock_.Now(); }, .sleep = [this](absl::Duration time) { clock_.Advance(time); }},
        watch);
  }

  LoadResult Run(Mode mode, int callers, const PaceSettings& pace) {
    auto result = RunWith(mode, callers, pace,
                          {.interrupted = [] { return false; }, .look = [](absl::Duration, std::int64_t) {}});
    EXPECT_TRUE(result.ok()) << result.status();
    return *std::move(result);
  }

  ManualClock clock_;
  std::shared_ptr<SlowServer> server_ = std::make_shared<SlowServer>(&clock_);
  BatchPlan plan_ = {.request = {.model = "m"}, .shapes = {{2, 3}}, .vocab_size = 2, .embedding_dim = 2};
};

TEST_F(LoadTest, ClosedLoopCountsCallsRowsBytesAndTimes) {
  const LoadResult result = Run(Mode::kBlocking, 1, {.calls = 10});

  EXPECT_EQ(result.tally.calls, 10);
  EXPECT_EQ(result.tally.rows, 10 * 2 * 3);
  EXPECT_EQ(result.tally.bytes, 10 * 2 * 3 * 2 * 4);
  EXPECT_EQ(result.tally.failed(), 0);
  EXPECT_EQ(result.elapsed, absl::Milliseconds(10));
  EXPECT_EQ(result.tally.latency.Max(), absl::Milliseconds(1));
  EXPECT_FALSE(result.cut_short);
}

TEST_F(LoadTest, StallShowsInOneCallOfAClosedLoop) {
  server_->stalled = 3;
  server_->stall = absl::Milliseconds(100);

  const LoadResult result = Run(Mode::kBlocking, 1, {.calls = 100});

  EXPECT_EQ(result.tally.latency.Max(), absl::Milliseconds(100));
  EXPECT_LT(result.tally.latency.Percentile(99), absl::Milliseconds(1.01));
}

// A call is due every 10 ms and takes 1 ms; the fourth, due at 30 ms, takes 100. So calls 4 … 13 start late, by 90 ms,
// 81 ms and so on: each catches up 9 ms. Their latencies are 91, 82 … 10 ms.
TEST_F(LoadTest, StallShowsInAllCallsThatWereDueMeanwhileInAnOpenLoop) {
  server_->stalled = 3;
  server_->stall = absl::Milliseconds(100);

  const LoadResult result = Run(Mode::kBlocking, 1, {.calls = 20, .rate = 100});

  const Tally& tally = result.tally;
  EXPECT_EQ(tally.calls, 20);
  EXPECT_EQ(tally.late_starts, 10);
  EXPECT_EQ(tally.most_late, absl::Milliseconds(90));
  EXPECT_EQ(tally.latency.Max(), absl::Milliseconds(100));
  EXPECT_EQ(tally.latency.Mean(),
            absl::Milliseconds((9 * 1 + 100 + (91 + 82 + 73 + 64 + 55 + 46 + 37 + 28 + 19 + 10)) / 20.0));
  EXPECT_EQ(result.elapsed, absl::Milliseconds(191));
}

TEST_F(LoadTest, CallersThatCannotKeepUpMakeAllCallsLateRatherThanFewer) {
  const LoadResult result = Run(Mode::kBlocking, 1, {.duration = absl::Milliseconds(50), .rate = 2000});

  EXPECT_EQ(result.tally.calls, 100);
  EXPECT_EQ(result.elapsed, absl::Milliseconds(100));
  EXPECT_EQ(result.tally.most_late, absl::Milliseconds(49.5));
}

TEST_F(LoadTest, EveryKindOfCallerMakesEachCallOnce) {
  for (const Mode mode : {Mode::kBlocking, Mode::kStream, Mode::kFilledStream, Mode::kAsync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    const std::size_t before = server_->embed_requests().size();

    const LoadResult result = Run(mode, 3, {.calls = 1000});

    EXPECT_EQ(result.tally.calls, 1000);
    EXPECT_EQ(result.tally.latency.count(), 1000);
    EXPECT_EQ(result.tally.failed(), 0);
    EXPECT_EQ(server_->embed_requests().size() - before, 1000u);
  }
}

TEST_F(LoadTest, EveryKindOfCallerKeepsTheScheduleOfAnOpenLoop) {
  for (const Mode mode : {Mode::kStream, Mode::kAsync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    const LoadResult result = Run(mode, 1, {.duration = absl::Seconds(1), .rate = 100});

    EXPECT_EQ(result.tally.calls, 100);
    EXPECT_GE(result.elapsed, absl::Milliseconds(990));
  }
}

TEST_F(LoadTest, RefusalsAreCountedByCodeWithTheFirstMessageAndAreNoThroughput) {
  for (const Mode mode : {Mode::kBlocking, Mode::kStream, Mode::kFilledStream, Mode::kAsync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    server_->FailNext(client::ErrorWithReason(absl::StatusCode::kResourceExhausted, "OVERLOADED", "too much"), 3);

    const LoadResult result = Run(mode, 1, {.calls = 10});

    EXPECT_EQ(result.tally.calls, 7);
    EXPECT_EQ(result.tally.latency.count(), 7);
    EXPECT_EQ(result.tally.failed(), 3);
    const auto& error = result.tally.errors.at(absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(error.count, 3);
    EXPECT_EQ(error.first_message, "OVERLOADED: too much");
  }
}

TEST_F(LoadTest, WrongSizesAreErrorsAndNoThroughput) {
  plan_.embedding_dim = 3;  // the server's model has 2
  for (const Mode mode : {Mode::kBlocking, Mode::kStream, Mode::kFilledStream, Mode::kAsync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    const LoadResult result = Run(mode, 1, {.calls = 10});

    EXPECT_EQ(result.tally.calls, 0);
    EXPECT_EQ(result.tally.bytes, 0);
    EXPECT_EQ(result.tally.failed(), 10);
  }
}

TEST_F(LoadTest, BrokenStreamFailsWhatIsUnderWayAndAnotherIsOpened) {
  for (const Mode mode : {Mode::kStream, Mode::kFilledStream}) {
    SCOPED_TRACE(static_cast<int>(mode));
    server_->FailNext(absl::UnavailableError("no server"), 2);  // OpenStream

    const LoadResult result = Run(mode, 1, {.calls = 10});

    EXPECT_EQ(result.tally.failed(), 2);
    EXPECT_EQ(result.tally.calls, 8);
  }
}

TEST_F(LoadTest, InterruptionEndsItAndKeepsWhatWasMeasured) {
  for (const Mode mode : {Mode::kBlocking, Mode::kStream, Mode::kFilledStream, Mode::kAsync}) {
    SCOPED_TRACE(static_cast<int>(mode));
    std::int64_t seen = 0;
    const auto result = RunWith(mode, 2, {.calls = std::int64_t{1} << 50},
                                {.interrupted = [&seen] { return seen > 0; },
                                 .look = [&seen](absl::Duration, std::int64_t ended) { seen = ended; }});

    ASSERT_TRUE(result.ok());
    EXPECT_TRUE(result->cut_short);
    EXPECT_GT(result->tally.calls, 0);
    EXPECT_EQ(result->tally.failed(), 0) << "what we have ended ourselves is no error";
  }
}

TEST_F(LoadTest, WarmUpCallsAreMadeButNotMeasured) {
  const LoadResult result = Run(Mode::kBlocking, 1, {.warmup = absl::Milliseconds(5), .calls = 10});

  EXPECT_EQ(result.tally.warmup_calls, 5);
  EXPECT_EQ(result.tally.calls, 10);
  EXPECT_EQ(result.elapsed, absl::Milliseconds(10));
}

TEST_F(LoadTest, LoadThatCannotBeIsRefused) {
  EXPECT_THAT(RunWith(Mode::kBlocking, 1, {}, {}), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("duration")));
}

TEST(Tally, KeepsTheFirstMessageOfAllThreads) {
  const Batch batch;
  const Turn turn{.measured = true};
  Tally later, earlier, merged;
  later.End(turn, absl::Seconds(2), batch, absl::NotFoundError("later"), false);
  earlier.End(turn, absl::Seconds(1), batch, absl::NotFoundError("earlier"), false);
  merged.Merge(later);
  merged.Merge(earlier);

  EXPECT_EQ(merged.errors.at(absl::StatusCode::kNotFound).first_message, "earlier");
  EXPECT_EQ(merged.failed(), 2);
}

}  // namespace
}  // namespace embd::cli
