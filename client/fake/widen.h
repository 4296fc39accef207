#ifndef EMBD_CLIENT_FAKE_WIDEN_H_
#define EMBD_CLIENT_FAKE_WIDEN_H_

#include <vector>

#include "embd/client/input_tensor.h"

namespace embd::client::fake {

/// The elements of a tensor of a float type as floats; kFloat64 rounds to the nearest.
[[nodiscard]] std::vector<float> Widen(const InputTensor& tensor);

}  // namespace embd::client::fake

#endif  // EMBD_CLIENT_FAKE_WIDEN_H_
