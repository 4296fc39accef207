#ifndef EMBD_CLIENT_CLI_FILES_NPY_H_
#define EMBD_CLIENT_CLI_FILES_NPY_H_

#include <ostream>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/cli/files/tensor.h"

namespace embd::cli {

/// Reads the bytes of a .npy file, versions 1 to 3, little-endian. Takes f2, f4, f8, i4, i8 as they are and widens i1,
/// i2, u1, u2, u4 to int64; C order, or Fortran order of up to two extents, which is turned round.
///
/// Errors:
///   INVALID_ARGUMENT  not a .npy file, a type or order that is not taken (named), or a size that does not fit
///                     the shape.
[[nodiscard]] absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes);

/// Whether the format can hold elements of that type.
///
/// Errors:
///   INVALID_ARGUMENT  bfloat16, which the format cannot say; the message names the ways out.
[[nodiscard]] absl::Status CheckNpyHolds(DataType type);

/// Writes version 1 of the format. Errors as `CheckNpyHolds`; nothing is written then.
[[nodiscard]] absl::Status WriteNpy(TensorView tensor, std::ostream& out);

}  // namespace embd::cli

#endif  // EMBD_CLIENT_CLI_FILES_NPY_H_
