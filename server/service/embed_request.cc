#include "server/service/embed_request.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/wire/data_type.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"
#include "server/service/output_type.h"

namespace embd::service {
namespace {

using core::InvalidArgument;

// Of fields that are not served yet: a number that nobody knows is told first, as it is for those that are served.
absl::Status CheckUnservedEnums(const v1::EmbedRequest& request) {
  if (!v1::RaggedLayout_IsValid(request.ragged_layout())) {
    return UnknownEnum("ragged_layout", request.ragged_layout(), "PADDED, PACKED");
  }
  if (!v1::PaddingSide_IsValid(request.padding_side())) {
    return UnknownEnum("padding_side", request.padding_side(), "RIGHT, LEFT");
  }
  return absl::OkStatus();
}

absl::Status CheckServedFields(const v1::EmbedRequest& request) {
  const std::pair<bool, const char*> fields[] = {
      {request.token_type_ids_size() > 0, "token_type_ids"},
      {request.row_lengths_size() > 0, "row_lengths"},
      {request.attention_mask_size() > 0, "attention_mask"},
      {request.has_output_target(), "output_target"},
      {request.ragged_layout() != 0, "ragged_layout"},
      {request.padding_side() != 0, "padding_side"},
      {request.unique(), "unique"},
      {!request.if_checksum().empty(), "if_checksum"},
      {request.has_inputs_embeds(), "inputs_embeds"},
  };
  for (const auto& [is_set, name] : fields) {
    if (is_set) {
      return core::Error(absl::StatusCode::kUnimplemented, "NOT_IMPLEMENTED",
                         absl::StrCat("field ", name, " of EmbedRequest is not served by this server"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<core::Part> ToPart(v1::Part part) {
  switch (part) {
    case v1::PART_UNSPECIFIED:
    case v1::PART_COMPOSED: return core::Part::kComposed;
    case v1::PART_TOKEN: return core::Part::kToken;
    case v1::PART_POSITION: return core::Part::kPosition;
    default: return UnknownEnum("part", part, "COMPOSED, TOKEN, POSITION");
  }
}

template <typename T>
void WidenRaw(const std::string& data, std::vector<std::int64_t>* ids) {
  ids->resize(data.size() / sizeof(T));
  for (std::size_t i = 0; i < ids->size(); ++i) {
    T id;
    std::memcpy(&id, data.data() + i * sizeof(T), sizeof(T));
    (*ids)[i] = static_cast<std::int64_t>(id);
  }
}

// One copy of memory; a string's characters are aligned for any type. `data` is whole values.
void CopyRaw(const std::string& data, std::vector<std::int64_t>* ids) {
  const auto* const first = reinterpret_cast<const std::int64_t*>(data.data());
  ids->assign(first, first + data.size() / sizeof(std::int64_t));
}

absl::Status CheckAgrees(absl::string_view field, std::int64_t said, std::int64_t extent) {
  if (said == 0 || said == extent) return absl::OkStatus();
  return InvalidArgument("INVALID_SHAPE",
                         absl::StrCat(field, " ", said, " contradicts the shape of ids_tensor, which says ", extent));
}

absl::Status ReadIdsTensor(const v1::EmbedRequest& request, core::EmbedInput* input) {
  const v1::Tensor& tensor = request.ids_tensor();
  const v1::DataType type = tensor.data_type();
  if (type != v1::DATA_TYPE_INT32 && type != v1::DATA_TYPE_INT64 && type != v1::DATA_TYPE_UINT32) {
    if (!v1::DataType_IsValid(type)) return UnknownEnum("ids_tensor.data_type", type, "INT32, INT64, UINT32");
    return InvalidArgument("INVALID_OPTION", absl::StrCat("ids_tensor.data_type ", wire::DataTypeName(type),
                                                          " is no type of ids; allowed are INT32, INT64, UINT32"));
  }
  if (tensor.shape_size() != 2 || tensor.shape(0) < 0 || tensor.shape(1) < 0) {
    return InvalidArgument("INVALID_SHAPE",
                           absl::StrCat("ids_tensor.shape must be (batch_size, sequence_length), got (",
                                        absl::StrJoin(tensor.shape(), ", "), ")"));
  }
  const std::int64_t element = wire::DataTypeSize(type);
  const auto expected = core::CheckedProduct({tensor.shape(0), tensor.shape(1), element});
  if (!expected.has_value() || *expected != static_cast<std::int64_t>(tensor.data().size())) {
    return InvalidArgument(
        "INVALID_SHAPE",
        absl::StrCat("ids_tensor.data has ", tensor.data().size(), " bytes, but (", tensor.shape(0), ", ",
                     tensor.shape(1), ") ", wire::DataTypeName(type), " needs ",
                     expected.has_value() ? absl::StrCat(*expected) : std::string("more than 2^63 - 1")));
  }
  if (absl::Status status = CheckAgrees("batch_size", request.batch_size(), tensor.shape(0)); !status.ok())
    return status;
  if (absl::Status status = CheckAgrees("sequence_length", request.sequence_length(), tensor.shape(1)); !status.ok()) {
    return status;
  }
  input->batch_size = tensor.shape(0);
  input->sequence_length = tensor.shape(1);
  if (type == v1::DATA_TYPE_INT32) WidenRaw<std::int32_t>(tensor.data(), &input->ids);
  if (type == v1::DATA_TYPE_INT64) CopyRaw(tensor.data(), &input->ids);
  if (type == v1::DATA_TYPE_UINT32) WidenRaw<std::uint32_t>(tensor.data(), &input->ids);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<core::EmbedInput> ToEmbedInput(const v1::EmbedRequest& request) {
  if (absl::Status status = CheckUnservedEnums(request); !status.ok()) return status;
  if (absl::Status status = CheckServedFields(request); !status.ok()) return status;
  const auto part = ToPart(request.part());
  if (!part.ok()) return part.status();
  const auto output_type = ToOutputType(request.output_type());
  if (!output_type.ok()) return output_type.status();
  core::EmbedInput input = {.part = *part,
                            .output_type = *output_type,
                            .batch_size = request.batch_size(),
                            .sequence_length = request.sequence_length(),
                            .ids = {request.ids().begin(), request.ids().end()},
                            .position_offsets = {request.position_offsets().begin(), request.position_offsets().end()},
                            .position_ids = {request.position_ids().begin(), request.position_ids().end()}};
  if (request.has_ids_tensor()) {
    if (request.ids_size() > 0) return InvalidArgument("INVALID_OPTION", "ids and ids_tensor exclude each other");
    if (absl::Status status = ReadIdsTensor(request, &input); !status.ok()) return status;
  }
  return input;
}

}  // namespace embd::service
