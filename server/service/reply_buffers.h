#ifndef EMBD_SERVER_SERVICE_REPLY_BUFFERS_H_
#define EMBD_SERVER_SERVICE_REPLY_BUFFERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/core/threads/mutex.h"

namespace embd::service {

class ReplyBuffers;

/// A reply's memory, admitted and on loan from a `ReplyBuffers`. Going out of scope gives it back.
///
/// Ownership: movable, not copyable; keeps the pool alive. Thread safety: as a `std::unique_ptr`; may end on any
/// thread.
class ReplyBuffer {
 public:
  ReplyBuffer(ReplyBuffer&&) = default;
  ReplyBuffer& operator=(ReplyBuffer&&) = delete;
  ~ReplyBuffer();

  /// Exactly the bytes asked for, not initialised.
  [[nodiscard]] std::span<std::byte> bytes() { return memory_.bytes().first(size_); }

 private:
  friend class ReplyBuffers;
  ReplyBuffer(std::shared_ptr<ReplyBuffers> pool, core::AlignedBuffer memory, std::size_t size)
      : pool_(std::move(pool)), memory_(std::move(memory)), size_(size) {}

  std::shared_ptr<ReplyBuffers> pool_;
  core::AlignedBuffer memory_;
  std::size_t size_;
};

/// Bytes that count as in flight although nothing is lent for them. Going out of scope ends that.
///
/// Ownership: movable, not copyable; keeps the pool alive. Thread safety: as ReplyBuffer.
class CountedBytes {
 public:
  CountedBytes(CountedBytes&&) = default;
  CountedBytes& operator=(CountedBytes&&) = delete;
  ~CountedBytes();

 private:
  friend class ReplyBuffers;
  CountedBytes(std::shared_ptr<ReplyBuffers> pool, std::int64_t size) : pool_(std::move(pool)), size_(size) {}

  std::shared_ptr<ReplyBuffers> pool_;
  std::int64_t size_;
};

/// Memory for replies: bounds the bytes in flight and reuses buffers, so that a steady load allocates nothing of a
/// reply's size. What counts is the memory that a reply takes: 4 KiB at least; a larger size rounded up by at most a
/// quarter, then from 2 MiB on to whole 2 MiB, as it is mapped. It counts from `Take` until gRPC lets the buffer go, so
/// a slow reader counts.
///
/// Thread safety: thread-safe.
class ReplyBuffers : public std::enable_shared_from_this<ReplyBuffers> {
 public:
  /// `max_bytes_in_flight` bounds what is on loan. At most `max_idle_bytes` are kept for reuse; where that is full,
  /// what comes back takes the place of buffers of other sizes.
  [[nodiscard]] static std::shared_ptr<ReplyBuffers> Create(std::int64_t max_bytes_in_flight,
                                                            std::size_t max_idle_bytes);

  /// Lends `size` bytes.
  ///
  /// Errors, all RESOURCE_EXHAUSTED:
  ///   [RESPONSE_TOO_LARGE]  `size` alone exceeds the bound.
  ///   [OVERLOADED]          other replies hold too much now, or the system has no memory; with a retry delay.
  [[nodiscard]] absl::StatusOr<ReplyBuffer> Take(std::size_t size);

  /// Counts `size` bytes that a call holds for as long as its caller reads.
  ///
  /// Errors, both RESOURCE_EXHAUSTED:
  ///   [REQUEST_TOO_LARGE]  `size` alone exceeds the bound.
  ///   [OVERLOADED]         replies hold too much now; with a retry delay.
  [[nodiscard]] absl::StatusOr<CountedBytes> Count(std::size_t size);

  [[nodiscard]] std::int64_t max_bytes_in_flight() const { return max_in_flight_; }
  [[nodiscard]] std::int64_t bytes_in_flight() const { return in_flight_.load(std::memory_order_relaxed); }
  /// Frees the buffers that have lain idle ever since the call before this one, and returns their bytes. Called at even
  /// distances it gives back what no load has needed for one to two of them.
  std::size_t FreeUnused();

  /// What is kept for reuse now.
  [[nodiscard]] std::size_t idle_bytes() const;
  /// How often memory had to be asked of the system so far.
  [[nodiscard]] std::int64_t allocations() const { return allocations_.load(std::memory_order_relaxed); }

 private:
  friend class ReplyBuffer;
  friend class CountedBytes;
  ReplyBuffers(std::int64_t max_bytes_in_flight, std::size_t max_idle_bytes)
      : max_in_flight_(max_bytes_in_flight), max_idle_bytes_(max_idle_bytes) {}

  /// The memory that a reply of that size takes.
  [[nodiscard]] std::size_t CapacityFor(std::size_t size) const;
  [[nodiscard]] absl::Status Admit(std::size_t size, std::size_t capacity);
  [[nodiscard]] core::AlignedBuffer TakeIdle(std::size_t capacity);
  void Return(core::AlignedBuffer memory);
  /// Buffers of one capacity. The one that came back last is lent first, so that the first `unused` ones have not been
  /// touched since FreeUnused.
  struct Shelf {
    std::vector<core::AlignedBuffer> buffers;
    std::size_t unused = 0;

    [[nodiscard]] core::AlignedBuffer Pop();
  };

  /// Takes buffers of other capacities out of what is idle until `capacity` fits, or none is left.
  [[nodiscard]] std::vector<core::AlignedBuffer> Evict(std::size_t capacity) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::int64_t max_in_flight_;
  const std::size_t max_idle_bytes_;
  std::atomic<std::int64_t> in_flight_ = 0;
  std::atomic<std::int64_t> allocations_ = 0;
  mutable core::Mutex mutex_;  // held for a few pointer moves; allocation and freeing happen outside
  std::map<std::size_t, Shelf> idle_ ABSL_GUARDED_BY(mutex_);  // by capacity
  std::size_t idle_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_REPLY_BUFFERS_H_
