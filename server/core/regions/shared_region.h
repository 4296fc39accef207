#ifndef EMBD_SERVER_CORE_REGIONS_SHARED_REGION_H_
#define EMBD_SERVER_CORE_REGIONS_SHARED_REGION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "server/core/table/mapping_guard.h"

namespace embd::core {

/// Bytes of a file that another process has too, mapped for writing. Their memory is there from the beginning: nothing
/// waits for a page later.
///
/// A file that its owner cuts short, or punches holes into while its file system is full, does not end the process:
/// writes to what is lost go to memory that nobody else sees, and the region is damaged from then on.
///
/// Ownership: owns the mapping and a descriptor of its own; neither movable nor copyable.
/// Thread safety: all const calls may run at once; what is written by several threads at a time, or while the other
/// process reads, is theirs to order.
class SharedRegion {
 public:
  /// How many of them there can be at a time in the process.
  static constexpr std::size_t kMaxRegions = kMaxMappingsOfAUse;

  /// Maps `size` bytes, at least 1, of the regular file behind `descriptor`, which is open for reading and writing;
  /// they begin at `offset`, a multiple of 4096, and all of them lie inside the file.
  ///
  /// Cost: the system clears each page that the file has not yet, about half a millisecond a MB.
  /// Errors:
  ///   INVALID_ARGUMENT    [CANNOT_MAP] the system does not map it, or has no memory for it.
  ///   RESOURCE_EXHAUSTED  [TOO_MANY_REGIONS] there are kMaxRegions already.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<SharedRegion>> Map(int descriptor, std::uint64_t offset,
                                                                         std::size_t size);

  SharedRegion(const SharedRegion&) = delete;
  SharedRegion& operator=(const SharedRegion&) = delete;
  ~SharedRegion();

  /// Aligned to 4096 bytes.
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  /// Whether bytes of the region have been lost, so that what was written may not be where the other process looks.
  /// Once true, it stays so. Cost: a system call.
  [[nodiscard]] bool damaged() const;

 private:
  SharedRegion(int descriptor, std::uint64_t offset, std::size_t size);
  [[nodiscard]] absl::Status Map();
  [[nodiscard]] absl::Status Populate() const;

  const int descriptor_;
  const std::uint64_t offset_;
  const std::size_t size_;
  std::byte* pages_ = nullptr;  // from the page on in which the region begins
  std::byte* data_ = nullptr;
  MappingSlot* slot_ = nullptr;  // null: nothing is mapped
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_REGIONS_SHARED_REGION_H_
