#ifndef EMBD_TESTS_INTEGRATION_OIP_INFER_CALL_H_
#define EMBD_TESTS_INTEGRATION_OIP_INFER_CALL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "embd/v1/embedding.pb.h"
#include "inference/grpc_service.pb.h"

// Requests of embd.v1 in the words of the Open Inference Protocol.
namespace embd::testing {

using InferInput = ::inference::ModelInferRequest::InferInputTensor;

/// A request whose elements have not been put anywhere yet.
struct InferCall {
  ::inference::ModelInferRequest request;  ///< inputs without elements
  std::vector<std::string> data;           ///< the elements of each input
};

/// "FP32" for FLOAT32, and so on; "FP32" too for UNSPECIFIED.
[[nodiscard]] std::string DatatypeOf(v1::DataType type);

/// The output that is a part.
[[nodiscard]] std::string OutputOf(v1::Part part);

/// B and T of a request without row_lengths, as a tensor or its own fields say them.
struct Extents {
  std::int64_t batch_size;
  std::int64_t sequence_length;
};
[[nodiscard]] Extents ExtentsOf(const v1::EmbedRequest& request);

/// Whether the protocol has words for all that the request asks for, and every tensor has the shape and the size that
/// the request and the model's width say: others are refused in Triton's sentences, before the engine sees them.
[[nodiscard]] bool HasInferForm(const v1::EmbedRequest& request, std::int64_t embedding_dim);

/// The same request, which has such a form.
[[nodiscard]] InferCall ToInferCall(const v1::EmbedRequest& from);

/// Whether each input's elements fit a field of typed contents: those of FP16 and BF16 fit none. Inputs of datatypes
/// that no model takes are without elements there.
[[nodiscard]] bool HasTypedForm(const InferCall& call);

/// The request with the elements in raw_input_contents, or in typed contents.
[[nodiscard]] ::inference::ModelInferRequest WithRawContents(const InferCall& call);
[[nodiscard]] ::inference::ModelInferRequest WithTypedContents(const InferCall& call);

/// A message of embd.v1 as the protocol words it.
[[nodiscard]] std::string InOtherWords(absl::string_view message);

}  // namespace embd::testing

#endif  // EMBD_TESTS_INTEGRATION_OIP_INFER_CALL_H_
