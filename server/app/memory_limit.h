#ifndef EMBD_SERVER_APP_MEMORY_LIMIT_H_
#define EMBD_SERVER_APP_MEMORY_LIMIT_H_

#include <cstdint>
#include <string>

namespace embd::app {

/// The bytes of memory that this process may use: the machine's, or what its control group (v2 or v1) or one above it
/// allows where that is less. `root` stands before the paths of the files that tell the groups; tests set it.
[[nodiscard]] std::int64_t MemoryLimit(const std::string& root = "");

/// What of `limit`, such as MemoryLimit says, tables may take. The rest, an eighth of it or 128 MiB where that is less,
/// is for the program, its threads and connections: a process that fills the whole limit with tables is killed for it.
[[nodiscard]] std::int64_t TableMemoryLimit(std::int64_t limit);

}  // namespace embd::app

#endif  // EMBD_SERVER_APP_MEMORY_LIMIT_H_
