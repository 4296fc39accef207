#ifndef EMBD_TESTS_INTEGRATION_OIP_INFER_REQUEST_H_
#define EMBD_TESTS_INTEGRATION_OIP_INFER_REQUEST_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "inference/grpc_service.pb.h"

// Requests of the Open Inference Protocol as its clients write them.
namespace embd::testing {

using InferRequest = ::inference::ModelInferRequest;
using InferResponse = ::inference::ModelInferResponse;
using InputMessage = InferRequest::InferInputTensor;
using Shape = std::vector<std::int64_t>;

/// The elements one after the other, as raw contents have them.
template <typename T>
std::string RawBytes(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// The inverse of RawBytes.
template <typename T>
std::vector<T> RawValues(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

inline InferRequest RequestFor(const std::string& model) {
  InferRequest request;
  request.set_model_name(model);
  return request;
}

/// Adds an input without elements.
inline InputMessage* AddInput(InferRequest* request, const std::string& name, const std::string& datatype,
                              const Shape& shape) {
  InputMessage* const input = request->add_inputs();
  input->set_name(name);
  input->set_datatype(datatype);
  input->mutable_shape()->Assign(shape.begin(), shape.end());
  return input;
}

/// Adds an input and its raw contents.
template <typename T>
InputMessage* AddRaw(InferRequest* request, const std::string& name, const std::string& datatype, const Shape& shape,
                     const std::vector<T>& values) {
  request->add_raw_input_contents(RawBytes(values));
  return AddInput(request, name, datatype, shape);
}

/// The ids of IdsRequest.
inline const std::vector<std::int64_t>& SomeIds() {
  static const std::vector<std::int64_t> ids = {1, 2, 3, 9, 0, 1};
  return ids;
}

/// (2, 3) ids for the model "tiny", raw INT64.
inline InferRequest IdsRequest() {
  InferRequest request = RequestFor("tiny");
  AddRaw(&request, "input_ids", "INT64", {2, 3}, SomeIds());
  return request;
}

/// The same with typed contents.
inline InferRequest TypedIdsRequest() {
  InferRequest request = RequestFor("tiny");
  InputMessage* const input = AddInput(&request, "input_ids", "INT64", {2, 3});
  for (const std::int64_t id : SomeIds()) input->mutable_contents()->add_int64_contents(id);
  return request;
}

/// For the model "identity_fp32", raw.
inline InferRequest IdentityRequest(const Shape& shape, const std::vector<float>& values) {
  InferRequest request = RequestFor("identity_fp32");
  AddRaw(&request, "INPUT0", "FP32", shape, values);
  return request;
}

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_OIP_INFER_REQUEST_H_
