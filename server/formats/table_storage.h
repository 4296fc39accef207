#ifndef EMBD_SERVER_FORMATS_TABLE_STORAGE_H_
#define EMBD_SERVER_FORMATS_TABLE_STORAGE_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "server/core/tensor/aligned_buffer.h"

namespace embd::formats {

/// Memory for a table's `bytes`. Large blocks take physical memory only as they are written, so a size that can never
/// fit is refused here: filling it would end the process.
///
/// Errors:
///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] more than the memory of the machine or of the container, or no more to be had.
[[nodiscard]] absl::StatusOr<core::AlignedBuffer> AllocateTableStorage(std::size_t bytes);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_TABLE_STORAGE_H_
