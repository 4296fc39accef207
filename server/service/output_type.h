#ifndef EMBD_SERVER_SERVICE_OUTPUT_TYPE_H_
#define EMBD_SERVER_SERVICE_OUTPUT_TYPE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/v1/tensor.pb.h"
#include "server/core/tensor/element_type.h"

// Enums of requests, as all RPCs read them.
namespace embd::service {

/// INVALID_ARGUMENT [UNKNOWN_ENUM_VALUE]: `number` is no value of the enum of `field`.
[[nodiscard]] absl::Status UnknownEnum(absl::string_view field, int number, absl::string_view allowed);

/// The type of a reply's elements; UNSPECIFIED means FLOAT32.
///
/// Errors:
///   INVALID_ARGUMENT  [UNKNOWN_ENUM_VALUE]; [INVALID_OPTION] a type that results do not have
[[nodiscard]] absl::StatusOr<core::ElementType> ToOutputType(v1::DataType type);

/// The type of vectors that a request brings along in `field`.
///
/// Errors:
///   INVALID_ARGUMENT  [UNKNOWN_ENUM_VALUE]; [INVALID_OPTION] a type that vectors do not have
[[nodiscard]] absl::StatusOr<core::ElementType> ToVectorType(absl::string_view field, v1::DataType type);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_OUTPUT_TYPE_H_
