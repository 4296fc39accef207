#ifndef EMBD_CLIENT_CLI_FILES_SAFETENSORS_H_
#define EMBD_CLIENT_CLI_FILES_SAFETENSORS_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"

namespace embd::cli {

/// Reads a tensor from the bytes of a .safetensors file: the one of that name, or else the only one. Takes F16, BF16,
/// F32, F64, I32, I64 as they are and widens I8, U8, I16, U16, U32 to int64.
///
/// Errors:
///   INVALID_ARGUMENT  not a .safetensors file, several tensors and none of that name, a type that is not taken,
///                     or bytes that do not fit the shape; names the tensor.
[[nodiscard]] absl::StatusOr<Tensor> ParseSafetensors(absl::string_view bytes, absl::string_view name);

/// Writes a file with that one tensor.
void WriteSafetensors(TensorView tensor, absl::string_view name, std::ostream& out);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_SAFETENSORS_H_
