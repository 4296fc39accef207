#ifndef EMBD_SERVER_OIP_DATATYPE_H_
#define EMBD_SERVER_OIP_DATATYPE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "inference/model_config.pb.h"

namespace embd::oip {

/// Element types go by the numbers that Triton's configurations give them.
using Datatype = ::inference::DataType;

/// As requests and replies call it: "INT64", "FP16", "BYTES", …; "<invalid>" for TYPE_INVALID and unknown numbers.
[[nodiscard]] absl::string_view DatatypeName(Datatype datatype);

/// The datatype of that name; TYPE_INVALID where there is none.
[[nodiscard]] Datatype ParseDatatype(absl::string_view name);

/// Bytes of one element; 0 for BYTES, whose elements differ, and for what is no datatype.
[[nodiscard]] std::int64_t DatatypeSize(Datatype datatype);

}  // namespace embd::oip

#endif  // EMBD_SERVER_OIP_DATATYPE_H_
