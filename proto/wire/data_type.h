#ifndef EMBD_PROTO_WIRE_DATA_TYPE_H_
#define EMBD_PROTO_WIRE_DATA_TYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"
#include "embd/v1/tensor.pb.h"

namespace embd::wire {

/// The name that people use: "float32", "int64", …; "unspecified" for UNSPECIFIED, "unknown" for a number outside the
/// enum.
[[nodiscard]] absl::string_view DataTypeName(v1::DataType type);

/// The type of that name, as `DataTypeName` writes it; UNSPECIFIED has none.
[[nodiscard]] std::optional<v1::DataType> DataTypeFromName(absl::string_view name);

/// Bytes of one element; 0 for UNSPECIFIED and unknown numbers.
[[nodiscard]] std::int64_t DataTypeSize(v1::DataType type);

}  // namespace embd::wire

#endif  // EMBD_PROTO_WIRE_DATA_TYPE_H_
