#ifndef EMBD_SERVER_FORMATS_SAFETENSORS_H_
#define EMBD_SERVER_FORMATS_SAFETENSORS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/file_reader.h"
#include "server/formats/stored_rows.h"

namespace embd::formats {

/// Loads tensor `name` of a .safetensors file; an empty name means the only tensor with two dimensions, neither 0,
/// and a type that tables can have (F32, F16, BF16, F64).
///
/// Memory: the table; before that, what the header takes.
/// Errors: those of `ReadSafetensorsHeader` and `LoadStoredRows`, and
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] no tensor of that name, or no name and not just one that could be meant; the
///                     message lists up to ten names.
///   INVALID_ARGUMENT  [INVALID_FILE] the tensor has not two dimensions, or no elements.
///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] the tensor has a type that tables cannot have.
[[nodiscard]] absl::StatusOr<LoadedRows> LoadSafetensors(const FileReader& file, absl::string_view name,
                                                         const StorageOptions& how = {});

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_SAFETENSORS_H_
