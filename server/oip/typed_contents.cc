#include "server/oip/typed_contents.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"

namespace embd::oip {
namespace {

using ::inference::InferTensorContents;

// A field of typed contents: how many elements it holds, and the datatype that it is for.
struct Field {
  int size;
  Datatype datatype;
};

std::array<Field, 8> FieldsOf(const InferTensorContents& contents) {
  return {{{contents.bool_contents_size(), ::inference::TYPE_BOOL},
           {contents.int_contents_size(), ::inference::TYPE_INT32},
           {contents.int64_contents_size(), ::inference::TYPE_INT64},
           {contents.uint_contents_size(), ::inference::TYPE_UINT32},
           {contents.uint64_contents_size(), ::inference::TYPE_UINT64},
           {contents.fp32_contents_size(), ::inference::TYPE_FP32},
           {contents.fp64_contents_size(), ::inference::TYPE_FP64},
           {contents.bytes_contents_size(), ::inference::TYPE_STRING}}};
}

// Elements in memory are as they are on the wire: this machine is little-endian.
template <typename Values>
std::string Bytes(const Values& values) {
  return {reinterpret_cast<const char*>(values.data()),
          static_cast<std::size_t>(values.size()) * sizeof(*values.data())};
}

}  // namespace

absl::StatusOr<std::string> RawContents(const InferTensorContents& contents, Datatype datatype,
                                        absl::string_view where) {
  bool supplied = false;
  for (const Field& field : FieldsOf(contents)) {
    if (field.size == 0) continue;
    if (supplied) {
      return core::InvalidArgument("INVALID_OPTION", absl::StrCat("unexpected explicit tensor data for input tensor ",
                                                                  where, ", binary data was already supplied."));
    }
    if (field.datatype != datatype) {
      return core::InvalidArgument(
          "INVALID_OPTION",
          absl::StrCat("unexpected explicit tensor data for input tensor ", where, " of type '",
                       DatatypeName(field.datatype), "', expected datatype '", DatatypeName(datatype), "'"));
    }
    supplied = true;
  }
  switch (datatype) {
    case ::inference::TYPE_INT32: return Bytes(contents.int_contents());
    case ::inference::TYPE_INT64: return Bytes(contents.int64_contents());
    case ::inference::TYPE_FP32: return Bytes(contents.fp32_contents());
    case ::inference::TYPE_FP64: return Bytes(contents.fp64_contents());
    default: return std::string();  // of no element, or a datatype that no model of this server takes
  }
}

}  // namespace embd::oip
