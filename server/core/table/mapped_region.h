#ifndef EMBD_SERVER_CORE_TABLE_MAPPED_REGION_H_
#define EMBD_SERVER_CORE_TABLE_MAPPED_REGION_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "server/core/table/mapping_guard.h"

namespace embd::core {

/// Bytes of a file, mapped for reading and shared with the system's page cache: they take no memory of their own, and
/// the system may drop and re-read them.
///
/// A file that becomes shorter does not end the process. The first mapping installs a handler of SIGBUS for the whole
/// process; where a fault lies in a region, the handler puts zero pages in the place of the lost ones and marks the
/// region damaged. Any other SIGBUS goes to the handler that was there before. What is written into the file, on the
/// other hand, shows through, unnoticed; a file that is replaced by renaming another over it is safe.
///
/// Ownership: owns the mapping and a descriptor of its own; movable, not copyable.
/// Thread safety: all const calls may run at once.
class MappedRegion {
 public:
  /// How many regions there can be at a time in the process.
  static constexpr std::size_t kMaxRegions = kMaxMappingsOfAUse;

  /// How the bytes will be read: tells the system what to read ahead.
  enum class Access { kSequential, kRandom };

  /// Maps `size` bytes, at least 1, of the regular file behind `descriptor` from any `offset` on; all of them must lie
  /// inside the file.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] the system does not map it, or there are kMaxRegions already.
  [[nodiscard]] static absl::StatusOr<MappedRegion> Map(int descriptor, std::uint64_t offset, std::size_t size);

  MappedRegion(MappedRegion&& other) noexcept;
  MappedRegion& operator=(MappedRegion&& other) noexcept;
  MappedRegion(const MappedRegion&) = delete;
  MappedRegion& operator=(const MappedRegion&) = delete;
  ~MappedRegion();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }

  /// Whether bytes of the region have been lost: a read met a page that is gone, or the file ends before the region
  /// does. Once true, it stays so. Cost: a system call.
  [[nodiscard]] bool damaged() const;

  /// Says how the bytes will be read from now on. A wish: nothing depends on it but speed.
  void Advise(Access access) const;

 private:
  MappedRegion() = default;
  void Unmap();

  MappingSlot* slot_ = nullptr;  // null: nothing is mapped
  int descriptor_ = -1;
  std::uint64_t file_end_ = 0;  // of the region, in the file
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_MAPPED_REGION_H_
