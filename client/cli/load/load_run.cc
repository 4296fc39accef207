#include "client/cli/load/load_run.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <utility>

#include "client/cli/load/start_thread.h"

namespace embd::cli {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks(100);

// How many callers still run. Thread-safe.
class Running {
 public:
  void Add() {
    const std::lock_guard lock(mutex_);
    ++count_;
  }

  void Remove() {
    const std::lock_guard lock(mutex_);
    --count_;
    changed_.notify_all();
  }

  // Whether none runs, or comes to that before the next look.
  bool WaitForNone() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kBetweenLooks, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t count_ = 0;
};

// The threads of the callers; joins them when it goes away.
class Crew {
 public:
  ~Crew() { Join(); }

  absl::Status Start(const std::vector<std::unique_ptr<Caller>>& callers, SharedLoad& load,
                     std::vector<Tally>& tallies) {
    threads_.reserve(callers.size());
    for (std::size_t i = 0; i < callers.size(); ++i) {
      running_.Add();
      absl::StatusOr<std::thread> thread = StartThread([this, &load, caller = callers[i].get(), tally = &tallies[i]] {
        caller->Run(load, *tally);
        running_.Remove();
      });
      if (!thread.ok()) return thread.status();
      threads_.push_back(*std::move(thread));
    }
    return absl::OkStatus();
  }

  bool WaitForEnd() { return running_.WaitForNone(); }

  void Join() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  Running running_;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::StatusOr<LoadResult> RunLoad(const Load& load, const Clock& clock, const LoadWatch& watch) {
  std::stop_source stop;
  std::vector<Tally> tallies(load.callers.size());
  absl::StatusOr<std::unique_ptr<Pace>> pace = Pace::Start(load.pace, clock, stop.get_token());
  if (!pace.ok()) return pace.status();
  SharedLoad shared{.batches = load.batches,
                    .clock = clock,
                    .pace = **pace,
                    .stop = stop.get_token(),
                    .timeout = load.timeout,
                    .chunks = load.chunks};
  LoadResult result;
  absl::Duration cut_at;
  {
    Crew crew;
    if (absl::Status status = crew.Start(load.callers, shared, tallies); !status.ok()) {
      stop.request_stop();
      return status;
    }
    while (!crew.WaitForEnd()) {
      watch.look(clock.now() - (*pace)->measured_from(), shared.ended.load(std::memory_order_relaxed));
      if (result.cut_short || !watch.interrupted()) continue;
      result.cut_short = true;
      cut_at = clock.now();
      stop.request_stop();
    }
  }
  for (const Tally& tally : tallies) result.tally.Merge(tally);
  result.elapsed = std::max({result.tally.last_end, cut_at, (*pace)->measured_from()}) - (*pace)->measured_from();
  return result;
}

}  // namespace embd::cli
