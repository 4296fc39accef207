#ifndef EMBD_SERVER_FORMATS_STORED_ROWS_H_
#define EMBD_SERVER_FORMATS_STORED_ROWS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/table/scan_nan.h"
#include "server/core/table/table.h"
#include "server/core/tensor/element_type.h"
#include "server/formats/file_reader.h"
#include "server/formats/table_storage.h"

namespace embd::formats {

/// A table and what was found out while its elements passed by.
struct LoadedRows {
  core::Table table;
  std::string checksum;  ///< what core::TableChecksum says of the table
  core::NanScan nans;    ///< what core::ScanNan says of it

  /// Of a table that is there already. Cost: two passes over it.
  [[nodiscard]] static LoadedRows Of(core::Table table);
};

/// Rows that lie in a file just as tables have them: row after row, little-endian.
struct StoredRows {
  core::ElementType type = core::ElementType::kFloat32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::uint64_t offset = 0;  ///< of the first byte in the file
};

/// Reads the rows, which must lie inside the file, into memory on a few threads, and hashes them meanwhile; or, with
/// `how.mmap`, maps them and hashes them there.
///
/// Cost: the slower one of reading and SHA-256. Memory: the table; nothing where it is mapped.
/// Errors: those of `FileReader::ReadAt`, `AllocateTableStorage` and `FileReader::Map`, and
///   INVALID_ARGUMENT  [CANNOT_MAP] mapped rows that do not begin at a multiple of their element size.
///   INVALID_ARGUMENT  [INVALID_FILE] the file was cut short while it was mapped and hashed.
[[nodiscard]] absl::StatusOr<LoadedRows> LoadStoredRows(const FileReader& file, const StoredRows& rows,
                                                        const StorageOptions& how);

/// INVALID_ARGUMENT [CANNOT_MAP]: the rows must be decoded, so that they cannot be mapped. `what` says which they are,
/// as in "Fortran order".
[[nodiscard]] absl::Status CannotMap(absl::string_view what);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_STORED_ROWS_H_
