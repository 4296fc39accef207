#ifndef EMBD_TESTS_UNIT_CLIENT_TENSOR_REPLY_H_
#define EMBD_TESTS_UNIT_CLIENT_TENSOR_REPLY_H_

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "embd/v1/embedding.pb.h"

namespace embd::client {

/// Makes `response` carry that float32 tensor.
inline void SetTensor(std::initializer_list<std::int64_t> shape, const std::vector<float>& values,
                      v1::EmbedResponse* response) {
  v1::Tensor& tensor = *response->mutable_embeddings();
  tensor.set_data_type(v1::DATA_TYPE_FLOAT32);
  tensor.mutable_shape()->Assign(shape.begin(), shape.end());
  tensor.mutable_data()->resize(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(tensor.mutable_data()->data(), values.data(), tensor.data().size());
}

}  // namespace embd::client

#endif  // EMBD_TESTS_UNIT_CLIENT_TENSOR_REPLY_H_
