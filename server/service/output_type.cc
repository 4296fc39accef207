#include "server/service/output_type.h"

#include "absl/strings/str_cat.h"
#include "proto/wire/data_type.h"
#include "server/core/error.h"

namespace embd::service {

absl::Status UnknownEnum(absl::string_view field, int number, absl::string_view allowed) {
  return core::InvalidArgument("UNKNOWN_ENUM_VALUE",
                               absl::StrCat(field, " = ", number, " is no value of its enum; allowed are ", allowed));
}

absl::StatusOr<core::ElementType> ToOutputType(v1::DataType type) {
  constexpr absl::string_view kAllowed = "FLOAT32, FLOAT16, BFLOAT16";
  switch (type) {
    case v1::DATA_TYPE_UNSPECIFIED:
    case v1::DATA_TYPE_FLOAT32: return core::ElementType::kFloat32;
    case v1::DATA_TYPE_FLOAT16: return core::ElementType::kFloat16;
    case v1::DATA_TYPE_BFLOAT16: return core::ElementType::kBFloat16;
    default: break;
  }
  if (!v1::DataType_IsValid(type)) return UnknownEnum("output_type", type, kAllowed);
  return core::InvalidArgument("INVALID_OPTION", absl::StrCat("output_type ", wire::DataTypeName(type),
                                                              " is no output type; allowed are ", kAllowed));
}

absl::StatusOr<core::ElementType> ToVectorType(absl::string_view field, v1::DataType type) {
  constexpr absl::string_view kAllowed = "FLOAT32, FLOAT16, BFLOAT16, FLOAT64";
  switch (type) {
    case v1::DATA_TYPE_FLOAT32: return core::ElementType::kFloat32;
    case v1::DATA_TYPE_FLOAT16: return core::ElementType::kFloat16;
    case v1::DATA_TYPE_BFLOAT16: return core::ElementType::kBFloat16;
    case v1::DATA_TYPE_FLOAT64: return core::ElementType::kFloat64;
    default: break;
  }
  if (!v1::DataType_IsValid(type)) return UnknownEnum(field, type, kAllowed);
  return core::InvalidArgument("INVALID_OPTION", absl::StrCat(field, " ", wire::DataTypeName(type),
                                                              " is no type of vectors; allowed are ", kAllowed));
}

}  // namespace embd::service
