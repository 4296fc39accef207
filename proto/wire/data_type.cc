#include "proto/wire/data_type.h"

namespace embd::wire {
namespace {

struct Entry {
  v1::DataType type = v1::DATA_TYPE_UNSPECIFIED;
  absl::string_view name;
  std::int64_t size = 0;
};

constexpr Entry kTypes[] = {
    {v1::DATA_TYPE_FLOAT32, "float32", 4},   {v1::DATA_TYPE_FLOAT16, "float16", 2},
    {v1::DATA_TYPE_BFLOAT16, "bfloat16", 2}, {v1::DATA_TYPE_FLOAT64, "float64", 8},
    {v1::DATA_TYPE_INT8, "int8", 1},         {v1::DATA_TYPE_INT32, "int32", 4},
    {v1::DATA_TYPE_INT64, "int64", 8},       {v1::DATA_TYPE_UINT32, "uint32", 4},
};

}  // namespace

absl::string_view DataTypeName(v1::DataType type) {
  for (const Entry& entry : kTypes) {
    if (entry.type == type) return entry.name;
  }
  return type == v1::DATA_TYPE_UNSPECIFIED ? "unspecified" : "unknown";
}

std::optional<v1::DataType> DataTypeFromName(absl::string_view name) {
  for (const Entry& entry : kTypes) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

std::int64_t DataTypeSize(v1::DataType type) {
  for (const Entry& entry : kTypes) {
    if (entry.type == type) return entry.size;
  }
  return 0;
}

}  // namespace embd::wire
