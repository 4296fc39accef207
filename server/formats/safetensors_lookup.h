#ifndef EMBD_SERVER_FORMATS_SAFETENSORS_LOOKUP_H_
#define EMBD_SERVER_FORMATS_SAFETENSORS_LOOKUP_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/formats/safetensors_header.h"

namespace embd::formats {

/// OK where the tensor can be a table.
///
/// Errors:
///   INVALID_ARGUMENT  [INVALID_FILE] it has not two dimensions, or no elements.
///   UNIMPLEMENTED     [UNSUPPORTED_FORMAT] it has a type that tables cannot have.
[[nodiscard]] absl::Status CheckIsTable(const SafetensorsTensor& tensor);

/// OK where the tensor is a vector of a type that tables can have; it may be empty. Errors: as of `CheckIsTable`.
[[nodiscard]] absl::Status CheckIsVector(const SafetensorsTensor& tensor);

/// The tensor of that name, as long as `header` lives.
///
/// Errors:
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] there is none; the message lists up to ten names.
[[nodiscard]] absl::StatusOr<const SafetensorsTensor*> FindNamedTensor(const SafetensorsHeader& header,
                                                                       absl::string_view name);

/// The only tensor that can be a table, as long as `header` lives.
///
/// Errors:
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] there is none, or several; the message lists up to ten.
[[nodiscard]] absl::StatusOr<const SafetensorsTensor*> FindOnlyTable(const SafetensorsHeader& header);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_SAFETENSORS_LOOKUP_H_
