#ifndef EMBD_SERVER_CORE_TENSOR_ALIGNED_BUFFER_H_
#define EMBD_SERVER_CORE_TENSOR_ALIGNED_BUFFER_H_

#include <cstddef>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

namespace embd::core {

/// A block of memory for tables and results: aligned to 64 bytes, its content not initialised.
///
/// Blocks of 2 MiB and more are mapped on their own, at a 2 MiB boundary and with transparent huge pages asked for, and
/// take physical memory only as they are written.
/// Ownership: owns the memory; movable, not copyable. Thread safety: as a `std::unique_ptr`.
class AlignedBuffer {
 public:
  static constexpr std::size_t kAlignment = 64;

  AlignedBuffer() = default;
  AlignedBuffer(AlignedBuffer&& other) noexcept { *this = std::move(other); }
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept;
  AlignedBuffer(const AlignedBuffer&) = delete;
  AlignedBuffer& operator=(const AlignedBuffer&) = delete;
  ~AlignedBuffer() { Free(); }

  /// Allocates `size` bytes; 0 gives an empty buffer.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  the system has not that much memory; the message says how much was asked for.
  [[nodiscard]] static absl::StatusOr<AlignedBuffer> Allocate(std::size_t size);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::span<std::byte> bytes() { return {data_, size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  void Free();

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TENSOR_ALIGNED_BUFFER_H_
