#include "server/core/tensor/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::core {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

constexpr std::size_t RoundUp(std::size_t value, std::size_t step) { return (value + step - 1) / step * step; }

constexpr bool IsMapped(std::size_t size) { return size >= kHugePage; }

// Maps `size` bytes at a huge-page boundary by mapping too much and giving the ends back.
std::byte* MapHuge(std::size_t size) {
  const std::size_t length = RoundUp(size, kHugePage);
  void* const start =
      mmap(nullptr, length + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return nullptr;
  std::byte* const first = static_cast<std::byte*>(start);
  const std::size_t skip =
      RoundUp(reinterpret_cast<std::uintptr_t>(start), kHugePage) - reinterpret_cast<std::uintptr_t>(start);
  if (skip > 0) munmap(first, skip);
  if (skip < kHugePage) munmap(first + skip + length, kHugePage - skip);
  madvise(first + skip, length, MADV_HUGEPAGE);  // a wish: without it the block is slower, not wrong
  return first + skip;
}

}  // namespace

absl::StatusOr<AlignedBuffer> AlignedBuffer::Allocate(std::size_t size) {
  AlignedBuffer buffer;
  if (size == 0) return buffer;
  if (size <= std::numeric_limits<std::size_t>::max() - 2 * kHugePage) {
    buffer.data_ = IsMapped(size) ? MapHuge(size)
                                  : static_cast<std::byte*>(std::aligned_alloc(kAlignment, RoundUp(size, kAlignment)));
  }
  if (buffer.data_ == nullptr) {
    return Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY",
                 absl::StrCat("cannot allocate ", size, " bytes of memory"));
  }
  buffer.size_ = size;
  return buffer;
}

AlignedBuffer& AlignedBuffer::operator=(AlignedBuffer&& other) noexcept {
  if (this != &other) {
    Free();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void AlignedBuffer::Free() {
  if (data_ == nullptr) return;
  if (IsMapped(size_)) {
    munmap(data_, RoundUp(size_, kHugePage));
  } else {
    std::free(data_);
  }
  data_ = nullptr;
  size_ = 0;
}

}  // namespace embd::core
