#include "server/service/worker_pool.h"

#include <latch>
#include <memory>
#include <numeric>
#include <vector>

#include "gmock/gmock.h"

namespace embd::service {
namespace {

TEST(WorkerPool, OneThreadRunsWorkInTheOrderOfTheCalls) {
  std::vector<int> ran;
  {
    WorkerPool pool(1);
    for (int i = 0; i < 100; ++i) pool.Add([&ran, i] { ran.push_back(i); });
  }
  std::vector<int> expected(100);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(ran, expected);
}

TEST(WorkerPool, DestructionRunsWhatIsStillQueued) {
  int ran = 0;
  std::latch started(1), release(1);
  auto pool = std::make_unique<WorkerPool>(1);
  pool->Add([&] {
    started.count_down();
    release.wait();
  });
  for (int i = 0; i < 10; ++i) pool->Add([&ran] { ++ran; });
  started.wait();
  EXPECT_EQ(ran, 0) << "the only thread is held";

  release.count_down();
  pool.reset();

  EXPECT_EQ(ran, 10);
}

TEST(WorkerPool, ThreadsWorkAtTheSameTime) {
  std::latch both(2);
  WorkerPool pool(2);
  for (int i = 0; i < 2; ++i) pool.Add([&both] { both.arrive_and_wait(); });

  both.wait();
}

}  // namespace
}  // namespace embd::service
