#include "server/service/raw_ids.h"

#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/wire/data_type.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"
#include "server/service/output_type.h"

namespace embd::service {
namespace {

using core::InvalidArgument;

template <typename T>
std::vector<std::int64_t> Widen(const std::string& data) {
  std::vector<std::int64_t> ids(data.size() / sizeof(T));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    T id;
    std::memcpy(&id, data.data() + i * sizeof(T), sizeof(T));
    ids[i] = static_cast<std::int64_t>(id);
  }
  return ids;
}

}  // namespace

absl::Status CheckRawIds(const v1::Tensor& tensor, int rank, absl::string_view expected) {
  const v1::DataType type = tensor.data_type();
  if (type != v1::DATA_TYPE_INT32 && type != v1::DATA_TYPE_INT64 && type != v1::DATA_TYPE_UINT32) {
    if (!v1::DataType_IsValid(type)) return UnknownEnum("ids_tensor.data_type", type, "INT32, INT64, UINT32");
    return InvalidArgument("INVALID_OPTION", absl::StrCat("ids_tensor.data_type ", wire::DataTypeName(type),
                                                          " is no type of ids; allowed are INT32, INT64, UINT32"));
  }
  if (tensor.shape_size() != rank || tensor.shape(0) < 0 || tensor.shape(rank - 1) < 0) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("ids_tensor.shape must be ", expected, ", got (",
                                                         absl::StrJoin(tensor.shape(), ", "), ")"));
  }
  const auto bytes = core::CheckedProduct({tensor.shape(0), rank == 2 ? tensor.shape(1) : 1, wire::DataTypeSize(type)});
  if (bytes.has_value() && *bytes == static_cast<std::int64_t>(tensor.data().size())) return absl::OkStatus();
  return InvalidArgument("INVALID_SHAPE",
                         absl::StrCat("ids_tensor.data has ", tensor.data().size(), " bytes, but (",
                                      absl::StrJoin(tensor.shape(), ", "), ") ", wire::DataTypeName(type), " needs ",
                                      bytes.has_value() ? absl::StrCat(*bytes) : std::string("more than 2^63 - 1")));
}

std::vector<std::int64_t> ReadRawIds(const v1::Tensor& tensor) {
  const std::string& data = tensor.data();
  if (tensor.data_type() == v1::DATA_TYPE_INT32) return Widen<std::int32_t>(data);
  if (tensor.data_type() == v1::DATA_TYPE_UINT32) return Widen<std::uint32_t>(data);
  // One copy of memory; a string's characters are aligned for any type.
  const auto* const first = reinterpret_cast<const std::int64_t*>(data.data());
  return {first, first + data.size() / sizeof(std::int64_t)};
}

}  // namespace embd::service
