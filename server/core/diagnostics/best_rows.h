#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_BEST_ROWS_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_BEST_ROWS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "server/core/threads/mutex.h"

namespace embd::core {

/// A row and how high it ranks.
struct RankedRow {
  std::int64_t row = 0;
  double rank = 0;
};

/// The `capacity` rows of the highest rank of those that were added; of equal ranks the lower rows, NaN last. In which
/// order they were added makes no difference. Thread safety: thread-safe.
class BestRows {
 public:
  explicit BestRows(std::size_t capacity) : capacity_(capacity) {}

  /// No row of a lower rank than this is kept any more. Once it is not -infinity, it only grows.
  [[nodiscard]] double floor() const { return floor_.load(std::memory_order_relaxed); }

  /// Adds a row that was not added before.
  void Add(RankedRow row);

  /// All that are kept, the best first. Called once, after all have been added.
  [[nodiscard]] std::vector<RankedRow> Take();

 private:
  const std::size_t capacity_;  // at least 1
  std::atomic<double> floor_ = -std::numeric_limits<double>::infinity();
  Mutex mutex_;
  std::vector<RankedRow> heap_ ABSL_GUARDED_BY(mutex_);  // the worst is its front
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_BEST_ROWS_H_
