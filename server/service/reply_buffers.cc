#include "server/service/reply_buffers.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/service/overload.h"

namespace embd::service {
namespace {

// Sizes are rounded up to four steps in each power of two, so that replies of like size share buffers, and to whole
// huge pages where AlignedBuffer maps them anyway.
std::size_t Rounded(std::size_t size) {
  constexpr std::size_t kSmallest = 4096;
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (size <= kSmallest) return kSmallest;
  const std::size_t step = std::bit_floor(size - 1) / 4;
  const std::size_t rounded = (size + step - 1) / step * step;
  return rounded < kHugePage ? rounded : (rounded + kHugePage - 1) / kHugePage * kHugePage;
}

}  // namespace

ReplyBuffer::~ReplyBuffer() {
  if (pool_ != nullptr) pool_->Return(std::move(memory_));
}

CountedBytes::~CountedBytes() {
  if (pool_ != nullptr) pool_->in_flight_.fetch_sub(size_, std::memory_order_relaxed);
}

std::shared_ptr<ReplyBuffers> ReplyBuffers::Create(std::int64_t max_bytes_in_flight, std::size_t max_idle_bytes) {
  return std::shared_ptr<ReplyBuffers>(new ReplyBuffers(max_bytes_in_flight, max_idle_bytes));
}

std::size_t ReplyBuffers::CapacityFor(std::size_t size) const {
  // A reply that fits is not refused for what it is rounded up to.
  return std::max(size, std::min(Rounded(size), static_cast<std::size_t>(max_in_flight_)));
}

absl::Status ReplyBuffers::Admit(std::size_t size, std::size_t capacity) {
  const auto wanted = static_cast<std::int64_t>(capacity);
  if (wanted > max_in_flight_) {
    return core::Error(absl::StatusCode::kResourceExhausted, "RESPONSE_TOO_LARGE",
                       absl::StrCat("the reply needs ", size, " bytes, which exceeds max_bytes_in_flight ",
                                    max_in_flight_, " of this server; ask for fewer rows a call"));
  }
  std::int64_t before = in_flight_.load(std::memory_order_relaxed);
  do {
    if (before > max_in_flight_ - wanted) {
      return Overloaded(absl::StrCat("replies hold ", before, " bytes now and this one, of ", size, " bytes, takes ",
                                     wanted, "; max_bytes_in_flight of this server is ", max_in_flight_));
    }
  } while (!in_flight_.compare_exchange_weak(before, before + wanted, std::memory_order_relaxed));
  return absl::OkStatus();
}

absl::StatusOr<ReplyBuffer> ReplyBuffers::Take(std::size_t size) {
  const std::size_t capacity = CapacityFor(size);
  if (absl::Status status = Admit(size, capacity); !status.ok()) return status;
  core::AlignedBuffer memory = TakeIdle(capacity);
  if (memory.size() == 0) {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    auto allocated = core::AlignedBuffer::Allocate(capacity);
    if (!allocated.ok()) {
      in_flight_.fetch_sub(static_cast<std::int64_t>(capacity), std::memory_order_relaxed);
      return Overloaded(allocated.status().message());
    }
    memory = *std::move(allocated);
  }
  return ReplyBuffer(shared_from_this(), std::move(memory), size);
}

absl::StatusOr<CountedBytes> ReplyBuffers::Count(std::size_t size) {
  if (size > static_cast<std::size_t>(max_in_flight_)) {
    return core::Error(absl::StatusCode::kResourceExhausted, "REQUEST_TOO_LARGE",
                       absl::StrCat("the request takes ", size, " bytes of memory, which exceeds max_bytes_in_flight ",
                                    max_in_flight_, " of this server; split the batch"));
  }
  if (absl::Status status = Admit(size, size); !status.ok()) return status;
  return CountedBytes(shared_from_this(), static_cast<std::int64_t>(size));
}

core::AlignedBuffer ReplyBuffers::Shelf::Pop() {
  core::AlignedBuffer memory = std::move(buffers.back());
  buffers.pop_back();
  unused = std::min(unused, buffers.size());
  return memory;
}

core::AlignedBuffer ReplyBuffers::TakeIdle(std::size_t capacity) {
  const core::MutexLock lock(&mutex_);
  const auto found = idle_.find(capacity);
  if (found == idle_.end() || found->second.buffers.empty()) return {};
  idle_bytes_ -= capacity;
  return found->second.Pop();
}

void ReplyBuffers::Return(core::AlignedBuffer memory) {
  const std::size_t capacity = memory.size();
  in_flight_.fetch_sub(static_cast<std::int64_t>(capacity), std::memory_order_relaxed);
  std::vector<core::AlignedBuffer> evicted;  // freed after the lock, as is `memory` where it is not kept
  if (capacity > max_idle_bytes_) return;
  const core::MutexLock lock(&mutex_);
  evicted = Evict(capacity);
  if (idle_bytes_ + capacity > max_idle_bytes_) return;
  idle_bytes_ += capacity;
  idle_[capacity].buffers.push_back(std::move(memory));
}

std::vector<core::AlignedBuffer> ReplyBuffers::Evict(std::size_t capacity) {
  std::vector<core::AlignedBuffer> evicted;
  for (auto entry = idle_.begin(); entry != idle_.end() && idle_bytes_ + capacity > max_idle_bytes_;) {
    Shelf& shelf = entry->second;
    while (entry->first != capacity && !shelf.buffers.empty() && idle_bytes_ + capacity > max_idle_bytes_) {
      idle_bytes_ -= entry->first;
      evicted.push_back(shelf.Pop());
    }
    entry = shelf.buffers.empty() ? idle_.erase(entry) : std::next(entry);
  }
  return evicted;
}

std::size_t ReplyBuffers::FreeUnused() {
  std::vector<core::AlignedBuffer> unused;  // freed after the lock
  std::size_t bytes = 0;
  const core::MutexLock lock(&mutex_);
  for (auto entry = idle_.begin(); entry != idle_.end();) {
    Shelf& shelf = entry->second;
    const auto end = shelf.buffers.begin() + static_cast<std::ptrdiff_t>(shelf.unused);
    std::move(shelf.buffers.begin(), end, std::back_inserter(unused));
    shelf.buffers.erase(shelf.buffers.begin(), end);
    bytes += entry->first * shelf.unused;
    shelf.unused = shelf.buffers.size();
    entry = shelf.buffers.empty() ? idle_.erase(entry) : std::next(entry);
  }
  idle_bytes_ -= bytes;
  return bytes;
}

std::size_t ReplyBuffers::idle_bytes() const {
  const core::MutexLock lock(&mutex_);
  return idle_bytes_;
}

}  // namespace embd::service
