#include "server/formats/table_storage.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::formats {
namespace {

// All the memory that this process could ever have.
std::uint64_t TotalMemory() {
  std::uint64_t total =
      static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  for (const char* limit_file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::ifstream file(limit_file);
    std::uint64_t limit = 0;
    if (file >> limit) total = std::min(total, limit);  // "max" is no number
  }
  return total;
}

}  // namespace

absl::StatusOr<core::AlignedBuffer> AllocateTableStorage(std::size_t bytes) {
  const std::uint64_t total = TotalMemory();
  if (bytes > total) {
    return core::Error(absl::StatusCode::kResourceExhausted, "OUT_OF_MEMORY",
                       absl::StrCat("the table takes ", bytes, " bytes, the memory here has ", total));
  }
  return core::AlignedBuffer::Allocate(bytes);
}

}  // namespace embd::formats
