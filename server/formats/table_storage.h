#ifndef EMBD_SERVER_FORMATS_TABLE_STORAGE_H_
#define EMBD_SERVER_FORMATS_TABLE_STORAGE_H_

#include <cstddef>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/tensor/aligned_buffer.h"

namespace embd::formats {

/// Asked before a table of so many bytes is read; what it says other than OK ends the loading. Empty: any size is fine.
using Reserve = std::function<absl::Status(std::size_t bytes)>;

/// How a table is to rest in memory.
struct StorageOptions {
  Reserve reserve;    ///< asked before memory is taken; a mapped table takes none
  bool mmap = false;  ///< map the rows of the file instead of reading them
};

/// Memory for a table's `bytes`. Large blocks take physical memory only as they are written, and filling more than
/// there is would end the process; so whoever knows the bound is asked first.
///
/// Errors: those of `reserve` and of core::AlignedBuffer::Allocate.
[[nodiscard]] absl::StatusOr<core::AlignedBuffer> AllocateTableStorage(std::size_t bytes, const Reserve& reserve);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_TABLE_STORAGE_H_
