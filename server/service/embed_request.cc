#include "server/service/embed_request.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/core/error.h"
#include "server/service/output_type.h"
#include "server/service/raw_ids.h"

namespace embd::service {
namespace {

using core::InvalidArgument;

absl::Status CheckRaggedEnums(const v1::EmbedRequest& request) {
  if (!v1::RaggedLayout_IsValid(request.ragged_layout())) {
    return UnknownEnum("ragged_layout", request.ragged_layout(), "PADDED, PACKED");
  }
  if (!v1::PaddingSide_IsValid(request.padding_side())) {
    return UnknownEnum("padding_side", request.padding_side(), "RIGHT, LEFT");
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

// Where batch_size or sequence_length is given, the tensor's extent must agree; else it stands in.
absl::Status TakeExtent(absl::string_view field, absl::string_view tensor, std::int64_t extent, std::int64_t* value) {
  if (*value != 0 && *value != extent) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat(field, " ", *value, " contradicts the shape of ", tensor,
                                                         ", which says ", extent));
  }
  *value = extent;
  return absl::OkStatus();
}

absl::Status TakeExtents(absl::string_view tensor, const v1::Tensor& message, core::EmbedInput* input) {
  if (absl::Status status = TakeExtent("batch_size", tensor, message.shape(0), &input->batch_size); !status.ok()) {
    return status;
  }
  return TakeExtent("sequence_length", tensor, message.shape(1), &input->sequence_length);
}

absl::Status ReadIdsTensor(const v1::EmbedRequest& request, core::EmbedInput* input) {
  const v1::Tensor& tensor = request.ids_tensor();
  const bool ragged = request.row_lengths_size() > 0;
  if (absl::Status status =
          CheckRawIds(tensor, ragged ? 1 : 2, ragged ? "(sum of row_lengths)" : "(batch_size, sequence_length)");
      !status.ok()) {
    return status;
  }
  if (!ragged) {
    if (absl::Status status = TakeExtents("ids_tensor", tensor, input); !status.ok()) return status;
  }
  input->ids = ReadRawIds(tensor);
  return absl::OkStatus();
}

// Takes the vectors' bytes out of the request: they may be as long as a request can be.
absl::Status TakeVectors(v1::EmbedRequest* request, core::EmbedInput* input) {
  v1::Tensor& tensor = *request->mutable_inputs_embeds();
  const auto type = ToVectorType("inputs_embeds.data_type", tensor.data_type());
  if (!type.ok()) return type.status();
  const bool ragged = request->row_lengths_size() > 0;
  if (tensor.shape_size() != (ragged ? 2 : 3)) {
    return InvalidArgument("INVALID_SHAPE", absl::StrCat("inputs_embeds.shape must be ",
                                                         ragged ? "(sum of row_lengths, embedding_dim)"
                                                                : "(batch_size, sequence_length, embedding_dim)",
                                                         ", got (", absl::StrJoin(tensor.shape(), ", "), ")"));
  }
  if (!ragged) {
    if (absl::Status status = TakeExtents("inputs_embeds", tensor, input); !status.ok()) return status;
  }
  input->inputs_embeds = {.type = *type,
                          .shape = {tensor.shape().begin(), tensor.shape().end()},
                          .data = std::move(*tensor.mutable_data())};
  return absl::OkStatus();
}

absl::Status CheckOneSource(const v1::EmbedRequest& request) {
  const std::pair<bool, const char*> sources[] = {{request.ids_size() > 0, "ids"},
                                                  {request.has_ids_tensor(), "ids_tensor"},
                                                  {request.has_inputs_embeds(), "inputs_embeds"}};
  const char* first = nullptr;
  for (const auto& [is_given, name] : sources) {
    if (is_given && first != nullptr) {
      return InvalidArgument("INVALID_OPTION", absl::StrCat(first, " and ", name, " exclude each other"));
    }
    if (is_given) first = name;
  }
  return absl::OkStatus();
}

std::vector<std::int64_t> Values(const google::protobuf::RepeatedField<std::int64_t>& field) {
  return {field.begin(), field.end()};
}

}  // namespace

absl::StatusOr<core::EmbedInput> ToEmbedInput(v1::EmbedRequest* request) {
  if (absl::Status status = CheckRaggedEnums(*request); !status.ok()) return status;
  const auto part = ToPart(request->part());
  if (!part.ok()) return part.status();
  const auto output_type = ToOutputType(request->output_type());
  if (!output_type.ok()) return output_type.status();
  if (absl::Status status = CheckOneSource(*request); !status.ok()) return status;
  core::EmbedInput input = {.part = *part,
                            .output_type = *output_type,
                            .batch_size = request->batch_size(),
                            .sequence_length = request->sequence_length(),
                            .ids = Values(request->ids()),
                            .position_offsets = Values(request->position_offsets()),
                            .position_ids = Values(request->position_ids()),
                            .token_type_ids = Values(request->token_type_ids()),
                            .attention_mask = Values(request->attention_mask()),
                            .row_lengths = Values(request->row_lengths()),
                            .packed = request->ragged_layout() == v1::RAGGED_LAYOUT_PACKED,
                            .pad_left = request->padding_side() == v1::PADDING_SIDE_LEFT,
                            .unique = request->unique()};
  if (request->has_ids_tensor()) {
    if (absl::Status status = ReadIdsTensor(*request, &input); !status.ok()) return status;
  }
  if (request->has_inputs_embeds()) {
    if (absl::Status status = TakeVectors(request, &input); !status.ok()) return status;
  }
  return input;
}

}  // namespace embd::service
