#include "tests/integration/oip/infer_call.h"

#include <cstring>
#include <optional>
#include <regex>

#include "absl/strings/numbers.h"
#include "proto/wire/data_type.h"
#include "server/core/tensor/checked_math.h"

namespace embd::testing {
namespace {

using Cells = google::protobuf::RepeatedField<std::int64_t>;

bool IsOutputType(v1::DataType type) {
  return type == v1::DATA_TYPE_UNSPECIFIED || type == v1::DATA_TYPE_FLOAT32 || type == v1::DATA_TYPE_FLOAT16 ||
         type == v1::DATA_TYPE_BFLOAT16;
}

// Whether a tensor of ids (no dim) or vectors is all right in itself, and says the same as the request's extents.
bool IsWhole(const v1::EmbedRequest& request, const v1::Tensor& tensor, std::optional<std::int64_t> dim) {
  const v1::DataType type = tensor.data_type();
  const bool of_ids = type == v1::DATA_TYPE_INT32 || type == v1::DATA_TYPE_INT64;
  const bool of_vectors = type == v1::DATA_TYPE_FLOAT64 || (type != v1::DATA_TYPE_UNSPECIFIED && IsOutputType(type));
  if (dim.has_value() ? !of_vectors : !of_ids) return false;
  if (tensor.shape_size() != (dim.has_value() ? 3 : 2)) return false;
  if (dim.has_value() && tensor.shape(2) != *dim) return false;
  const auto agrees = [](std::int64_t field, std::int64_t extent) { return field == 0 || field == extent; };
  if (!agrees(request.batch_size(), tensor.shape(0)) || !agrees(request.sequence_length(), tensor.shape(1))) {
    return false;
  }
  const auto bytes =
      core::CheckedProduct({tensor.shape(0), tensor.shape(1), dim.value_or(1), wire::DataTypeSize(type)});
  return bytes == static_cast<std::int64_t>(tensor.data().size());
}

void Add(const std::string& name, const std::string& datatype, const std::vector<std::int64_t>& shape, std::string data,
         InferCall* call) {
  InferInput& input = *call->request.add_inputs();
  input.set_name(name);
  input.set_datatype(datatype);
  input.mutable_shape()->Assign(shape.begin(), shape.end());
  call->data.push_back(std::move(data));
}

void Add(const std::string& name, const v1::Tensor& tensor, InferCall* call) {
  Add(name, DatatypeOf(tensor.data_type()), {tensor.shape().begin(), tensor.shape().end()}, tensor.data(), call);
}

void Add(const std::string& name, std::int64_t rows, std::int64_t columns, const Cells& values, InferCall* call) {
  const auto* const bytes = reinterpret_cast<const char*>(values.data());
  Add(name, "INT64", {rows, columns},
      std::string(bytes, static_cast<std::size_t>(values.size()) * sizeof(std::int64_t)), call);
}

// Of an element in typed contents; 0 where there are none of that datatype.
std::size_t TypedSize(const std::string& datatype) {
  if (datatype == "INT64" || datatype == "FP64") return 8;
  return datatype == "INT32" || datatype == "FP32" ? 4 : 0;
}

template <typename T, typename Field>
void Fill(const std::string& data, Field* field) {
  field->Resize(static_cast<int>(data.size() / sizeof(T)), T{});
  if (!data.empty()) std::memcpy(field->mutable_data(), data.data(), data.size());
}

}  // namespace

std::string DatatypeOf(v1::DataType type) {
  switch (type) {
    case v1::DATA_TYPE_FLOAT16: return "FP16";
    case v1::DATA_TYPE_BFLOAT16: return "BF16";
    case v1::DATA_TYPE_FLOAT64: return "FP64";
    case v1::DATA_TYPE_INT32: return "INT32";
    case v1::DATA_TYPE_INT64: return "INT64";
    default: return "FP32";
  }
}

std::string OutputOf(v1::Part part) {
  if (part == v1::PART_TOKEN) return "token_embeddings";
  return part == v1::PART_POSITION ? "position_embeddings" : "embeddings";
}

Extents ExtentsOf(const v1::EmbedRequest& request) {
  for (const v1::Tensor* const tensor : {&request.ids_tensor(), &request.inputs_embeds()}) {
    if (tensor->shape_size() >= 2) return {tensor->shape(0), tensor->shape(1)};
  }
  return {request.batch_size(), request.sequence_length()};
}

bool HasInferForm(const v1::EmbedRequest& request, std::int64_t embedding_dim) {
  const bool has_words = request.row_lengths_size() == 0 && request.position_offsets_size() == 0 &&
                         request.ragged_layout() == 0 && request.padding_side() == 0 && !request.unique() &&
                         request.if_checksum().empty() && !request.has_output_target() &&
                         v1::Part_IsValid(request.part()) && IsOutputType(request.output_type());
  const int sources =
      (request.ids_size() > 0 ? 1 : 0) + (request.has_ids_tensor() ? 1 : 0) + (request.has_inputs_embeds() ? 1 : 0);
  std::int64_t version = 0;
  const bool has_version = request.model_version().empty() || absl::SimpleAtoi(request.model_version(), &version);
  if (!has_words || sources > 1 || !has_version) return false;
  const Extents extents = ExtentsOf(request);
  const auto cells = core::CheckedProduct({extents.batch_size, extents.sequence_length});
  if (extents.batch_size < 0 || extents.sequence_length < 0 || !cells.has_value()) return false;
  for (const Cells* const values :
       {&request.position_ids(), &request.token_type_ids(), &request.attention_mask(), &request.ids()}) {
    const bool shared = values == &request.position_ids() && values->size() == extents.sequence_length;
    const bool stand_in = values == &request.ids() ? sources == 1 && request.ids_size() == 0 : true;
    if (values->size() != *cells && !shared && !(values->empty() && stand_in)) return false;
  }
  if (request.has_ids_tensor()) return IsWhole(request, request.ids_tensor(), {});
  return !request.has_inputs_embeds() || IsWhole(request, request.inputs_embeds(), embedding_dim);
}

InferCall ToInferCall(const v1::EmbedRequest& from) {
  InferCall call;
  call.request.set_model_name(from.model());
  call.request.set_model_version(from.model_version());
  const auto [batch_size, sequence_length] = ExtentsOf(from);
  if (from.has_ids_tensor()) {
    Add("input_ids", from.ids_tensor(), &call);
  } else if (!from.has_inputs_embeds() || from.ids_size() > 0) {
    Add("input_ids", batch_size, sequence_length, from.ids(), &call);
  }
  if (from.position_ids_size() > 0) {
    const bool shared = from.position_ids_size() == sequence_length;
    Add("position_ids", shared ? 1 : batch_size, sequence_length, from.position_ids(), &call);
  }
  if (from.attention_mask_size() > 0) {
    Add("attention_mask", batch_size, sequence_length, from.attention_mask(), &call);
  }
  if (from.token_type_ids_size() > 0) {
    Add("token_type_ids", batch_size, sequence_length, from.token_type_ids(), &call);
  }
  if (from.has_inputs_embeds()) Add("inputs_embeds", from.inputs_embeds(), &call);
  call.request.add_outputs()->set_name(OutputOf(from.part()));
  if (from.output_type() != v1::DATA_TYPE_UNSPECIFIED) {
    (*call.request.mutable_parameters())["output_datatype"].set_string_param(DatatypeOf(from.output_type()));
  }
  return call;
}

bool HasTypedForm(const InferCall& call) {
  for (std::size_t i = 0; i < call.data.size(); ++i) {
    const std::string& datatype = call.request.inputs(static_cast<int>(i)).datatype();
    if (datatype == "FP16" || datatype == "BF16") return false;
    const std::size_t size = TypedSize(datatype);
    if (size > 0 && call.data[i].size() % size != 0) return false;
  }
  return true;
}

::inference::ModelInferRequest WithRawContents(const InferCall& call) {
  ::inference::ModelInferRequest request = call.request;
  for (const std::string& data : call.data) request.add_raw_input_contents(data);
  return request;
}

::inference::ModelInferRequest WithTypedContents(const InferCall& call) {
  ::inference::ModelInferRequest request = call.request;
  for (int i = 0; i < request.inputs_size(); ++i) {
    const std::string& data = call.data[static_cast<std::size_t>(i)];
    const std::string& datatype = request.inputs(i).datatype();
    auto& contents = *request.mutable_inputs(i)->mutable_contents();
    if (datatype == "INT64") Fill<std::int64_t>(data, contents.mutable_int64_contents());
    if (datatype == "INT32") Fill<std::int32_t>(data, contents.mutable_int_contents());
    if (datatype == "FP32") Fill<float>(data, contents.mutable_fp32_contents());
    if (datatype == "FP64") Fill<double>(data, contents.mutable_fp64_contents());
  }
  return request;
}

std::string InOtherWords(absl::string_view message) {
  static const std::regex ids(R"(\bids( has|\[))");
  return std::regex_replace(std::string(message), ids, "input_ids$1");
}

}  // namespace embd::testing
