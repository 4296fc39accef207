#include "server/formats/table_storage.h"

namespace embd::formats {

absl::StatusOr<core::AlignedBuffer> AllocateTableStorage(std::size_t bytes, const Reserve& reserve) {
  if (reserve != nullptr) {
    if (absl::Status status = reserve(bytes); !status.ok()) return status;
  }
  return core::AlignedBuffer::Allocate(bytes);
}

}  // namespace embd::formats
