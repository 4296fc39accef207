#ifndef EMBD_CLIENT_SRC_CONVERT_VALUES_H_
#define EMBD_CLIENT_SRC_CONVERT_VALUES_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "embd/client/input_tensor.h"
#include "embd/client/output_tensor.h"
#include "embd/v1/tensor.pb.h"

// The parts that many messages have.
namespace embd::client {

template <typename Values>
auto ToVector(const Values& values) {
  return std::vector<typename Values::value_type>(values.begin(), values.end());
}

template <typename From, typename To>
void Assign(const std::vector<From>& values, To* field) {
  field->Assign(values.begin(), values.end());
}

/// With the elements.
void ToProto(const InputTensor& tensor, v1::Tensor* message);

/// Errors: INTERNAL the elements are not as many as the shape says.
[[nodiscard]] absl::StatusOr<OutputTensor> FromProto(v1::Tensor&& message);

/// The elements of a float32 tensor. Errors: INTERNAL it is none.
[[nodiscard]] absl::StatusOr<std::vector<float>> ToFloats(v1::Tensor&& message);

/// INTERNAL: the reply is not what the protocol says.
[[nodiscard]] absl::Status MakesNoSense(absl::string_view why);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_CONVERT_VALUES_H_
