#ifndef EMBD_CLIENT_SRC_ROW_CACHE_H_
#define EMBD_CLIENT_SRC_ROW_CACHE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "client/src/id_index.h"

namespace embd::client {

/// Rows of equal size by id, as many as there is room for. Where a new one finds no room it takes the place of one that
/// has not been used since the hand of the clock last passed it.
///
/// Thread safety: `Find`, `Holds`, `Use` and `row` may run on many threads at a time, `Put` only alone.
class RowCache {
 public:
  static constexpr std::uint32_t kNone = IdIndex::kNone;

  /// Room for as many rows as fit into `max_bytes`, what finds them again included, but no more than `max_rows`. The
  /// memory of rows is taken at once, but not touched before they come.
  RowCache(std::size_t row_bytes, std::size_t max_bytes, std::size_t max_rows);

  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  [[nodiscard]] std::size_t size() const { return ids_.size(); }
  /// Of the rows that are there and of the index, which has its size from the beginning.
  [[nodiscard]] std::size_t byte_size() const;

  /// The place of the row of `id`, or kNone.
  [[nodiscard]] std::uint32_t Find(std::int64_t id) const { return index_.Find(id); }
  /// Whether the row of `id` is at `place`.
  [[nodiscard]] bool Holds(std::uint32_t place, std::int64_t id) const { return ids_[place] == id; }
  /// Keeps the row at `place` for longer.
  void Use(std::uint32_t place) const {
    // Looked at before it is written: rows that many threads use stay in all their caches.
    if (!used_[place].load(std::memory_order_relaxed)) used_[place].store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] const std::byte* row(std::uint32_t place) const { return rows_.get() + place * row_bytes_; }

  /// Keeps a copy of `row`, unless that of `id` is there. There must be a capacity.
  void Put(std::int64_t id, const std::byte* row);

 private:
  [[nodiscard]] std::uint32_t MakeRoom();

  std::size_t row_bytes_;
  std::size_t capacity_;
  IdIndex index_;
  std::unique_ptr<std::byte[]> rows_;
  std::unique_ptr<std::atomic<bool>[]> used_;
  std::vector<std::int64_t> ids_;  // by place
  std::uint32_t hand_ = 0;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_ROW_CACHE_H_
