#include "server/service/shared_work.h"

#include <atomic>
#include <chrono>
#include <latch>
#include <new>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace embd::service {
namespace {

using ::embd::testing::IsOk;
using ::embd::testing::StatusIs;
using ::testing::Each;

absl::Status GoOn() { return absl::OkStatus(); }

TEST(ShareWork, EveryPieceIsDoneOnce) {
  WorkerPool pool(3);
  std::vector<std::atomic<int>> done(1000);

  EXPECT_THAT(ShareWork(
                  pool, 1000, [&](std::int64_t i) { ++done[static_cast<std::size_t>(i)]; }, GoOn),
              IsOk());

  EXPECT_THAT(std::vector<int>(done.begin(), done.end()), Each(1));
}

TEST(ShareWork, PiecesAreDoneOnThreadsOfThePoolToo) {
  WorkerPool pool(2);
  std::latch both(2);

  EXPECT_THAT(ShareWork(
                  pool, 2, [&](std::int64_t) { both.arrive_and_wait(); }, GoOn),
              IsOk());
}

TEST(ShareWork, DoesNotWaitForAPoolThatIsBusy) {
  WorkerPool pool(2);
  std::latch busy(2), release(1);
  for (int i = 0; i < 2; ++i) {
    pool.Add([&] {
      busy.count_down();
      release.wait();
    });
  }
  busy.wait();
  std::vector<std::thread::id> threads(4);

  EXPECT_THAT(
      ShareWork(
          pool, 4, [&](std::int64_t i) { threads[static_cast<std::size_t>(i)] = std::this_thread::get_id(); }, GoOn),
      IsOk());

  EXPECT_THAT(threads, Each(std::this_thread::get_id()));
  release.count_down();
}

TEST(ShareWork, NoPieceBeginsAfterAnInterruption) {
  WorkerPool pool(1);
  std::latch busy(1), release(1);
  pool.Add([&] {
    busy.count_down();
    release.wait();
  });
  busy.wait();
  int done = 0;

  EXPECT_THAT(ShareWork(
                  pool, 10, [&](std::int64_t) { ++done; },
                  [&] { return done == 3 ? absl::CancelledError("gone") : absl::OkStatus(); }),
              StatusIs(absl::StatusCode::kCancelled, "gone"));

  EXPECT_EQ(done, 3);
  release.count_down();
}

TEST(ShareWork, LackOfMemoryOnAnyThreadIsTheCallersToHandle) {
  WorkerPool pool(2);
  std::latch both(2);
  const auto caller = std::this_thread::get_id();
  const auto piece = [&](std::int64_t) {
    both.arrive_and_wait();
    if (std::this_thread::get_id() != caller) throw std::bad_alloc();
  };

  EXPECT_THROW((void)ShareWork(pool, 2, piece, GoOn), std::bad_alloc);
}

TEST(ShareWork, LackOfMemoryBetweenPiecesWaitsForThoseUnderWay) {
  WorkerPool pool(2);
  std::latch both(2);
  std::atomic<bool> ended = false;
  const auto caller = std::this_thread::get_id();
  const auto piece = [&](std::int64_t) {
    both.arrive_and_wait();
    if (std::this_thread::get_id() == caller) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ended = true;
  };

  EXPECT_THROW((void)ShareWork(pool, 2, piece, []() -> absl::Status { throw std::bad_alloc(); }), std::bad_alloc);

  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace embd::service
