#ifndef EMBD_SERVER_FORMATS_GGUF_H_
#define EMBD_SERVER_FORMATS_GGUF_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/file_reader.h"
#include "server/formats/stored_rows.h"

namespace embd::formats {

/// Loads tensor `name` of a GGUF file; an empty name means `token_embd.weight`. F32, F16 and BF16 stay as they are
/// stored; Q4_0, Q8_0, Q4_K and Q6_K become float32 (gguf_blocks.h has the formulas).
///
/// Memory: the table, what `ReadGguf` takes, and 1 MiB.
/// Errors: those of `ReadGguf`, `LoadStoredRows`, `FileReader::ReadAt` and `AllocateTableStorage`, and
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] no tensor of that name; the message lists up to ten.
///   INVALID_ARGUMENT  [INVALID_FILE] the tensor has not two dimensions, or no elements.
///   INVALID_ARGUMENT  [CANNOT_MAP] a quantised tensor is to be mapped.
///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] the tensor has another type; by its name.
[[nodiscard]] absl::StatusOr<LoadedRows> LoadGguf(const FileReader& file, absl::string_view name,
                                                  const StorageOptions& how = {});

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_GGUF_H_
