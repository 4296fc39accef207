#ifndef EMBD_SERVER_CORE_TABLE_MAPPING_GUARD_H_
#define EMBD_SERVER_CORE_TABLE_MAPPING_GUARD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace embd::core {

/// A mapping that the handler of SIGBUS looks after.
struct MappingSlot {
  std::atomic<bool> taken = false;
  std::atomic<std::uintptr_t> begin = 0;  ///< of whole pages; 0: the handler passes the slot over
  std::atomic<std::uintptr_t> end = 0;
  std::atomic<bool> damaged = false;  ///< set by the handler once it has put zero pages into the mapping
};

/// Puts the pages [begin, begin + size) under the handler's care, and installs it if it is not there yet. Nullptr where
/// all slots are taken or the handler cannot be installed. Thread-safe.
[[nodiscard]] MappingSlot* GuardMapping(void* begin, std::size_t size);

/// Ends the care. Nobody may read the pages any more. Thread-safe.
void ReleaseMapping(MappingSlot& slot);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_MAPPING_GUARD_H_
