#ifndef EMBD_SERVER_APP_MEMORY_LIMIT_H_
#define EMBD_SERVER_APP_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>

namespace embd::app {

/// The bytes of memory that this process may use: the machine's, or what its control group (v2 or v1) or one above it
/// allows where that is less. `root` stands before the paths of the files that tell the groups; tests set it.
[[nodiscard]] std::int64_t MemoryLimit(const std::string& root = "");

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MEMORY_LIMIT_H_
