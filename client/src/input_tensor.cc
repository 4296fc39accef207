#include "embd/client/input_tensor.h"

#include <utility>

namespace embd::client {

InputTensor InputTensor::FromFloats(std::span<const float> values, std::vector<std::int64_t> shape) {
  const auto bytes = std::as_bytes(values);
  return {.data_type = DataType::kFloat32, .shape = std::move(shape), .bytes = {bytes.begin(), bytes.end()}};
}

}  // namespace embd::client
