#include "server/service/reply_buffers.h"

#include <bit>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/wire/status.h"
#include "server/core/error.h"

namespace embd::service {
namespace {

constexpr std::int64_t kRetryAfterMs = 50;

// Sizes are rounded up to four steps in each power of two, so that replies of like size share buffers and at most a
// fifth of one is left over.
std::size_t Capacity(std::size_t size) {
  constexpr std::size_t kSmallest = 4096;
  if (size <= kSmallest) return kSmallest;
  const std::size_t step = std::bit_floor(size - 1) / 4;
  return (size + step - 1) / step * step;
}

absl::Status Exhausted(absl::string_view reason, absl::string_view message) {
  return core::Error(absl::StatusCode::kResourceExhausted, reason, message);
}

absl::Status Later(absl::Status status) {
  wire::SetRetryAfterMs(&status, kRetryAfterMs);
  return status;
}

}  // namespace

ReplyBuffer::~ReplyBuffer() {
  if (pool_ != nullptr) pool_->Return(std::move(memory_), size_);
}

std::shared_ptr<ReplyBuffers> ReplyBuffers::Create(std::int64_t max_bytes_in_flight, std::size_t max_idle_bytes) {
  return std::shared_ptr<ReplyBuffers>(new ReplyBuffers(max_bytes_in_flight, max_idle_bytes));
}

absl::Status ReplyBuffers::Admit(std::size_t size) {
  const auto wanted = static_cast<std::int64_t>(size);
  if (wanted > max_in_flight_) {
    return Exhausted("RESPONSE_TOO_LARGE",
                     absl::StrCat("the reply needs ", wanted, " bytes, which exceeds max_bytes_in_flight ",
                                  max_in_flight_, " of this server; ask for fewer rows a call"));
  }
  const std::int64_t before = in_flight_.fetch_add(wanted, std::memory_order_relaxed);
  if (before > max_in_flight_ - wanted) {
    in_flight_.fetch_sub(wanted, std::memory_order_relaxed);
    return Later(Exhausted("OVERLOADED", absl::StrCat("replies of ", before, " bytes are in flight and this one needs ",
                                                      wanted, "; max_bytes_in_flight of this server is ",
                                                      max_in_flight_, "; try again in ", kRetryAfterMs, " ms")));
  }
  return absl::OkStatus();
}

absl::StatusOr<ReplyBuffer> ReplyBuffers::Take(std::size_t size) {
  if (absl::Status status = Admit(size); !status.ok()) return status;
  const std::size_t capacity = Capacity(size);
  core::AlignedBuffer memory = TakeIdle(capacity);
  if (memory.size() == 0) {
    allocations_.fetch_add(1, std::memory_order_relaxed);
    auto allocated = core::AlignedBuffer::Allocate(capacity);
    if (!allocated.ok()) {
      in_flight_.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
      return Later(allocated.status());
    }
    memory = *std::move(allocated);
  }
  return ReplyBuffer(shared_from_this(), std::move(memory), size);
}

core::AlignedBuffer ReplyBuffers::TakeIdle(std::size_t capacity) {
  const core::MutexLock lock(&mutex_);
  const auto found = idle_.find(capacity);
  if (found == idle_.end() || found->second.empty()) return {};
  core::AlignedBuffer memory = std::move(found->second.back());
  found->second.pop_back();
  idle_bytes_ -= capacity;
  return memory;
}

void ReplyBuffers::Return(core::AlignedBuffer memory, std::size_t size) {
  in_flight_.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
  const std::size_t capacity = memory.size();
  const core::MutexLock lock(&mutex_);
  if (idle_bytes_ + capacity > max_idle_bytes_) return;  // freed by `memory`, after the lock
  idle_bytes_ += capacity;
  idle_[capacity].push_back(std::move(memory));
}

}  // namespace embd::service
