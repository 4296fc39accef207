#include "embd/client/output_tensor.h"

#include "absl/strings/str_cat.h"

namespace embd::client {

absl::StatusOr<std::span<const float>> OutputTensor::floats() const {
  if (data_type != DataType::kFloat32) {
    return absl::FailedPreconditionError(absl::StrCat("the elements are ", DataTypeName(data_type), ", not float32"));
  }
  return std::span(reinterpret_cast<const float*>(data.data()), data.size() / sizeof(float));
}

}  // namespace embd::client
