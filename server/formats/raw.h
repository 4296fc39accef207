#ifndef EMBD_SERVER_FORMATS_RAW_H_
#define EMBD_SERVER_FORMATS_RAW_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/core/tensor/element_type.h"
#include "server/formats/file_reader.h"
#include "server/formats/stored_rows.h"

namespace embd::formats {

/// What somebody who knows says of a file's rows.
struct RawLayout {
  core::ElementType type = core::ElementType::kFloat32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::uint64_t offset = 0;  ///< of the first byte in the file, for raw files

  friend bool operator==(const RawLayout&, const RawLayout&) = default;
};

/// Loads rows, little-endian and one after the other, from a file without any header. From the offset on it must hold
/// just as many bytes as the layout takes.
///
/// Errors: those of `LoadStoredRows`, and
///   INVALID_ARGUMENT  [INVALID_FILE] the file has another size; with both.
[[nodiscard]] absl::StatusOr<LoadedRows> LoadRaw(const FileReader& file, const RawLayout& layout,
                                                 const StorageOptions& how = {});

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_RAW_H_
