#ifndef EMBD_SERVER_FORMATS_NPY_H_
#define EMBD_SERVER_FORMATS_NPY_H_

#include "absl/status/statusor.h"
#include "server/formats/file_reader.h"
#include "server/formats/stored_rows.h"

namespace embd::formats {

/// Loads the table of an .npy file: float16, float32 or float64 of either byte order, in C or Fortran order.
///
/// Memory: the table and at most about 4 MiB.
/// Errors: those of `ReadNpyLayout`, `LoadStoredRows`, `FileReader::ReadAt` and `AllocateTableStorage`, and
///   INVALID_ARGUMENT  [INVALID_FILE] no rows or no columns, missing data or data left over.
///   INVALID_ARGUMENT  [CANNOT_MAP] an array in Fortran order or big-endian is to be mapped.
[[nodiscard]] absl::StatusOr<LoadedRows> LoadNpy(const FileReader& file, const StorageOptions& how = {});

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_NPY_H_
