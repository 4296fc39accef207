#ifndef EMBD_SERVER_CORE_TABLE_MAPPING_GUARD_H_
#define EMBD_SERVER_CORE_TABLE_MAPPING_GUARD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace embd::core {

/// What may be done with the pages of a mapping.
enum class MappingUse { kRead, kWrite };

/// How many mappings of each use there can be at a time in the process.
inline constexpr std::size_t kMaxMappingsOfAUse = 256;

/// A mapping that the handler of SIGBUS looks after.
struct MappingSlot {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0;  ///< of whole pages; 0: the handler passes the slot over
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> damaged = false;  ///< set by the handler once it has put zero pages into the mapping
};

/// Puts the pages [begin, begin + size) under the handler's care, and installs it if it is not there yet. Pages that it
/// puts in the place of lost ones serve the same use. Nullptr where all slots of that use are taken or the handler
/// cannot be installed. Thread-safe.
[[nodiscard]] MappingSlot* GuardMapping(void* begin, std::size_t size, MappingUse use);

/// Ends the care. Nobody may use the pages any more. Thread-safe.
void ReleaseMapping(MappingSlot& slot);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_MAPPING_GUARD_H_
