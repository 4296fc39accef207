#include "client/src/row_cache.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace embd::client {
namespace {

constexpr std::size_t kBytesBesideRow = sizeof(std::int64_t) + sizeof(std::atomic<bool>);

std::size_t BytesFor(std::size_t rows, std::size_t row_bytes) {
  return rows * (row_bytes + kBytesBesideRow) + IdIndex::BytesFor(rows);
}

std::size_t CapacityFor(std::size_t row_bytes, std::size_t max_bytes, std::size_t max_rows) {
  std::size_t low = 0, high = std::min<std::size_t>({max_rows, max_bytes / row_bytes, RowCache::kNone - 1});
  while (low < high) {
    const std::size_t middle = high - (high - low) / 2;
    if (BytesFor(middle, row_bytes) <= max_bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace

RowCache::RowCache(std::size_t row_bytes, std::size_t max_bytes, std::size_t max_rows)
    : row_bytes_(row_bytes),
      capacity_(CapacityFor(row_bytes, max_bytes, max_rows)),
      index_(capacity_),
      rows_(new (std::nothrow) std::byte[capacity_ * row_bytes]),
      used_(new std::atomic<bool>[capacity_]) {
  if (rows_ == nullptr) capacity_ = 0;
  ids_.reserve(capacity_);
}

std::size_t RowCache::byte_size() const {
  return capacity_ * kBytesBesideRow + IdIndex::BytesFor(capacity_) + size() * row_bytes_;
}

void RowCache::Put(std::int64_t id, const std::byte* row) {
  if (Find(id) != kNone) return;
  const std::uint32_t place = MakeRoom();
  ids_[place] = id;
  used_[place].store(false, std::memory_order_relaxed);
  std::memcpy(rows_.get() + place * row_bytes_, row, row_bytes_);
  index_.Insert(id, place);
}

std::uint32_t RowCache::MakeRoom() {
  if (ids_.size() < capacity_) {
    ids_.push_back(0);
    return static_cast<std::uint32_t>(ids_.size() - 1);
  }
  const auto advance = [this] { hand_ = hand_ + 1 == capacity_ ? 0 : hand_ + 1; };
  while (used_[hand_].exchange(false, std::memory_order_relaxed)) advance();
  const std::uint32_t place = hand_;
  advance();
  index_.Erase(ids_[place]);
  return place;
}

}  // namespace embd::client
