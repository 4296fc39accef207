#include "embd/client/rotary.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace embd::client {

absl::StatusOr<std::span<const float>> RotatedVectors::floats() const {
  if (info_.data_type != DataType::kFloat32) {
    return absl::FailedPreconditionError(
        absl::StrCat("the elements are ", DataTypeName(info_.data_type), ", not float32"));
  }
  return std::span(reinterpret_cast<const float*>(data_.get()), byte_size_ / sizeof(float));
}

}  // namespace embd::client
