#ifndef EMBD_TESTS_UNIT_CLI_TENSORS_H_
#define EMBD_TESTS_UNIT_CLI_TENSORS_H_

#include <cstring>
#include <initializer_list>
#include <utility>
#include <vector>

#include "client/cli/files/tensor.h"

namespace embd::cli::testing {

/// A tensor of elements that have the size of T.
template <typename T>
Tensor MakeTensor(DataType type, std::vector<std::int64_t> shape, std::vector<T> values) {
  Tensor tensor{.type = type, .shape = std::move(shape), .bytes = std::vector<std::byte>(values.size() * sizeof(T))};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

inline Tensor Floats(std::vector<std::int64_t> shape, std::vector<float> values) {
  return MakeTensor(DataType::kFloat32, std::move(shape), std::move(values));
}

inline Tensor Ids(std::vector<std::int64_t> shape, std::vector<std::int64_t> values) {
  return MakeTensor(DataType::kInt64, std::move(shape), std::move(values));
}

}  // namespace embd::cli::testing

namespace embd::cli {

/// Equal in type, shape and every bit.
inline bool operator==(const Tensor& a, const Tensor& b) {
  return a.type == b.type && a.shape == b.shape && a.bytes == b.bytes;
}

}  // namespace embd::cli

#endif  // EMBD_TESTS_UNIT_CLI_TENSORS_H_
