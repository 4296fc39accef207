#include "server/core/diagnostics/best_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace embd::core {
namespace {

bool IsBetter(const RankedRow& a, const RankedRow& b) {
  if (std::isnan(a.rank) != std::isnan(b.rank)) return std::isnan(b.rank);
  if (a.rank > b.rank || a.rank < b.rank) return a.rank > b.rank;
  return a.row < b.row;
}

}  // namespace

void BestRows::Add(RankedRow row) {
  const MutexLock lock(&mutex_);
  if (heap_.size() == capacity_) {
    if (!IsBetter(row, heap_.front())) return;
    std::pop_heap(heap_.begin(), heap_.end(), IsBetter);
    heap_.back() = row;
  } else {
    heap_.push_back(row);
  }
  std::push_heap(heap_.begin(), heap_.end(), IsBetter);
  if (heap_.size() == capacity_ && !std::isnan(heap_.front().rank)) {
    floor_.store(heap_.front().rank, std::memory_order_relaxed);
  }
}

std::vector<RankedRow> BestRows::Take() {
  const MutexLock lock(&mutex_);
  std::sort_heap(heap_.begin(), heap_.end(), IsBetter);
  return std::move(heap_);
}

}  // namespace embd::core
