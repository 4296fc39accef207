#ifndef EMBD_SERVER_FORMATS_NPY_H_
#define EMBD_SERVER_FORMATS_NPY_H_

#include "absl/status/statusor.h"
#include "server/core/table/table.h"
#include "server/formats/file_reader.h"
#include "server/formats/table_storage.h"

namespace embd::formats {

/// Loads the table of an .npy file: float16, float32 or float64 of either byte order, in C or Fortran order.
///
/// Memory: the table and at most about 4 MiB.
/// Errors: those of `ReadNpyLayout`, `FileReader::ReadAt` and `AllocateTableStorage`, and
///   INVALID_ARGUMENT  [INVALID_FILE] no rows or no columns, missing data or data left over.
[[nodiscard]] absl::StatusOr<core::Table> LoadNpy(const FileReader& file, const Reserve& reserve = {});

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_NPY_H_
