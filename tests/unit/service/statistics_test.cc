#include "server/service/statistics.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "server/service/phase_clock.h"

namespace embd::service {
namespace {

using std::chrono::hours;
using std::chrono::nanoseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

MATCHER_P2(IsDuration, count, ns, "") {
  *result_listener << arg.count << " times, " << arg.sum.count() << " ns";
  return arg.count == static_cast<std::uint64_t>(count) && arg.sum == nanoseconds(ns);
}

constexpr Phases kPhases = {.total = nanoseconds(100),
                            .queue = nanoseconds(1),
                            .input = nanoseconds(20),
                            .compute = nanoseconds(30),
                            .output = nanoseconds(4)};

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

TEST(Statistics, SumsUpWhatSuccessfulRequestsTook) {
  Statistics statistics;
  statistics.Open("m", "1");

  for (const std::int64_t batch_size : {1, 1, 3}) statistics.CountSuccess("m", batch_size, kPhases);

  const ModelCounts counts = statistics.Of("m");
  EXPECT_EQ(counts.rows, 5U);
  EXPECT_THAT(counts.success, IsDuration(3, 300));
  EXPECT_THAT(counts.fail, IsDuration(0, 0));
  EXPECT_THAT(counts.queue, IsDuration(3, 3));
  EXPECT_THAT(counts.input, IsDuration(3, 60));
  EXPECT_THAT(counts.compute, IsDuration(3, 90));
  EXPECT_THAT(counts.output, IsDuration(3, 12));
}

TEST(Statistics, TellsBatchSizesApart) {
  Statistics statistics;
  statistics.Open("m", "1");

  for (const std::int64_t batch_size : {3, 0, 1, 1}) statistics.CountSuccess("m", batch_size, kPhases);

  const auto is = [](std::int64_t size, int count) {
    return AllOf(Field("size", &ModelCounts::Batch::size, size),
                 Field("input", &ModelCounts::Batch::input, IsDuration(count, 20 * count)),
                 Field("compute", &ModelCounts::Batch::compute, IsDuration(count, 30 * count)),
                 Field("output", &ModelCounts::Batch::output, IsDuration(count, 4 * count)));
  };
  EXPECT_THAT(statistics.Of("m").by_batch_size, ElementsAre(is(0, 1), is(1, 2), is(3, 1)));
}

TEST(Statistics, FailuresCountApartAndMoveNothingElse) {
  Statistics statistics;
  statistics.Open("m", "1");

  statistics.CountFailure("m", absl::StatusCode::kInternal, nanoseconds(7));
  statistics.CountFailure("m", absl::StatusCode::kInternal, nanoseconds(8));

  const ModelCounts counts = statistics.Of("m");
  EXPECT_THAT(counts.fail, IsDuration(2, 15));
  EXPECT_THAT(counts.success, IsDuration(0, 0));
  EXPECT_THAT(counts.by_batch_size, IsEmpty());
  EXPECT_EQ(counts.rows, 0U);
  EXPECT_EQ(counts.last_inference_ms, 0);
}

TEST(Statistics, NameThatWasNotOpenedCountsNowhere) {
  Statistics statistics;
  statistics.Open("m", "1");

  statistics.CountSuccess("other", 1, kPhases);
  statistics.CountFailure("other", absl::StatusCode::kInternal, nanoseconds(7));

  for (const char* const name : {"m", "other"}) {
    EXPECT_THAT(statistics.Of(name).success, IsDuration(0, 0)) << name;
    EXPECT_THAT(statistics.Of(name).fail, IsDuration(0, 0)) << name;
  }
  EXPECT_EQ(statistics.Of("other").version, "");
}

TEST(Statistics, FailuresAreCountedByReason) {
  Statistics statistics;
  statistics.Open("m", "1");
  for (const absl::StatusCode code :
       {absl::StatusCode::kResourceExhausted, absl::StatusCode::kUnavailable, absl::StatusCode::kCancelled,
        absl::StatusCode::kDeadlineExceeded, absl::StatusCode::kInternal, absl::StatusCode::kInvalidArgument}) {
    statistics.CountFailure("m", code, nanoseconds(1));
  }

  EXPECT_THAT(statistics.Of("m").failures, ElementsAre(2U, 2U, 1U, 1U));
  EXPECT_THAT(statistics.UnknownFailures(), ElementsAre(0U, 0U, 0U, 0U));
}

TEST(Statistics, FailuresOfNamesThatWereNotOpenedAreUnknown) {
  Statistics statistics;
  statistics.Open("m", "1");

  statistics.CountFailure("other", absl::StatusCode::kNotFound, nanoseconds(1));
  statistics.CountFailure("another", absl::StatusCode::kNotFound, nanoseconds(1));

  EXPECT_THAT(statistics.UnknownFailures(), ElementsAre(0U, 0U, 0U, 2U));
  EXPECT_THAT(statistics.Names(), ElementsAre("m"));
}

TEST(Statistics, TokensBytesAndTimesOfSuccessesAreCounted) {
  Statistics statistics;
  statistics.Open("m", "1");
  statistics.CountSuccess("m", 2, {.total = std::chrono::microseconds(100)}, {.sequence_length = 3, .reply_bytes = 40});
  statistics.CountSuccess("m", 1, {.total = std::chrono::hours(1)}, {.sequence_length = 5, .reply_bytes = 2});

  const ModelCounts counts = statistics.Of("m");

  EXPECT_EQ(counts.tokens, 11U);
  EXPECT_EQ(counts.reply_bytes, 42U);
  EXPECT_EQ(counts.durations.front(), 1U);  // an end belongs to its bucket
  EXPECT_EQ(counts.durations.back(), 1U);
}

TEST(Statistics, BatchWithoutALengthHasNoTokens) {
  Statistics statistics;
  statistics.Open("m", "1");

  statistics.CountSuccess("m", 2, kPhases, {.sequence_length = -1});

  EXPECT_EQ(statistics.Of("m").tokens, 0U);
}

TEST(Statistics, WaitingRequestsAreThoseThatCameLessThoseThatWent) {
  Statistics statistics;
  statistics.Open("m", "1");

  statistics.CountWaiting("m", 1);
  statistics.CountWaiting("m", 1);
  statistics.CountWaiting("m", -1);
  statistics.CountWaiting("other", 1);

  EXPECT_EQ(statistics.Of("m").waiting, 1);
}

TEST(Statistics, ModelThatIsLoadedAnewKeepsItsCountsUnderItsNewVersion) {
  Statistics statistics;
  statistics.Open("m", "1");
  statistics.CountSuccess("m", 2, kPhases);

  statistics.Open("m", "2");

  EXPECT_EQ(statistics.Of("m").version, "2");
  EXPECT_EQ(statistics.Of("m").rows, 2U);
}

TEST(Statistics, LastInferenceIsTheArrivalOfTheRequest) {
  Statistics statistics;
  statistics.Open("m", "1");
  Phases hour = kPhases;
  hour.total = hours(1);
  constexpr std::int64_t kHourMs = 3'600'000;

  const std::int64_t before = NowMs();
  statistics.CountSuccess("m", 1, hour);
  const std::int64_t after = NowMs();

  EXPECT_GE(statistics.Of("m").last_inference_ms, before - kHourMs);
  EXPECT_LE(statistics.Of("m").last_inference_ms, after - kHourMs);
}

TEST(Statistics, LongRequestThatEndsAfterAShortOneDoesNotTurnLastInferenceBack) {
  Statistics statistics;
  statistics.Open("m", "1");
  Phases hour = kPhases;
  hour.total = hours(1);
  statistics.CountSuccess("m", 1, kPhases);
  const std::int64_t of_the_short_one = statistics.Of("m").last_inference_ms;

  statistics.CountSuccess("m", 1, hour);

  EXPECT_EQ(statistics.Of("m").last_inference_ms, of_the_short_one);
}

TEST(Statistics, ConcurrentCallersLoseNoCount) {
  constexpr int kThreads = 4, kCalls = 20'000;
  Statistics statistics;
  statistics.Open("m", "1");

  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&statistics] {
      for (int i = 0; i < kCalls; ++i) {
        statistics.CountSuccess("m", i % 7, kPhases);
        statistics.CountFailure("m", absl::StatusCode::kInternal, nanoseconds(1));
      }
    });
  }
  // What is read meanwhile is of one moment.
  for (int i = 0; i < 100; ++i) {
    const ModelCounts counts = statistics.Of("m");
    std::uint64_t executions = 0;
    for (const ModelCounts::Batch& batch : counts.by_batch_size) executions += batch.compute.count;
    EXPECT_EQ(executions, counts.success.count);
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_THAT(statistics.Of("m").success, IsDuration(kThreads * kCalls, 100 * kThreads * kCalls));
  EXPECT_THAT(statistics.Of("m").fail, IsDuration(kThreads * kCalls, kThreads * kCalls));
}

// Time that only a test lets pass. Of one test at a time.
struct HandClock {
  using duration = nanoseconds;
  using time_point = std::chrono::time_point<HandClock, duration>;
  static time_point now() { return passed; }

  static void Pass(int ns) { passed += nanoseconds(ns); }

  static inline time_point passed{};
};

TEST(PhaseClock, EachPhaseHasWhatPassedBeforeItsEnd) {
  BasicPhaseClock<HandClock> clock;
  HandClock::Pass(1);
  clock.EndQueue();
  HandClock::Pass(20);
  clock.EndInput();
  HandClock::Pass(300);
  clock.EndCompute();
  HandClock::Pass(4000);
  const Phases phases = clock.End();

  EXPECT_EQ(phases.queue, nanoseconds(1));
  EXPECT_EQ(phases.input, nanoseconds(20));
  EXPECT_EQ(phases.compute, nanoseconds(300));
  EXPECT_EQ(phases.output, nanoseconds(4000));
  EXPECT_EQ(phases.total, nanoseconds(4321));
}

TEST(PhaseClock, PhasesThatEndSeveralTimesAddUpAndWhatIsSkippedIsInTheTotalOnly) {
  BasicPhaseClock<HandClock> clock;
  for (int message = 0; message < 3; ++message) {
    clock.Skip();
    HandClock::Pass(5);
    clock.EndQueue();
    HandClock::Pass(30);
    clock.EndCompute();
    HandClock::Pass(2);
    clock.EndOutput();
    HandClock::Pass(1000);
  }
  clock.Skip();
  const Phases phases = clock.End();

  EXPECT_EQ(phases.queue, nanoseconds(15));
  EXPECT_EQ(phases.input, nanoseconds(0));
  EXPECT_EQ(phases.compute, nanoseconds(90));
  EXPECT_EQ(phases.output, nanoseconds(6));
  EXPECT_EQ(phases.total, nanoseconds(3111));
}

}  // namespace
}  // namespace embd::service
