#ifndef EMBD_SERVER_FORMATS_LOAD_VECTOR_H_
#define EMBD_SERVER_FORMATS_LOAD_VECTOR_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace embd::formats {

/// Loads a tensor of one dimension, such as the weights of a LayerNorm, as float32: `tensor` of a .safetensors file
/// (F32, F16, BF16, F64; also a single row [1, N], as biases are stored sometimes) or a .gguf file (F32, F16, BF16), or
/// an .npy file (float32, float16, float64 of either byte order), which holds only one and takes no name. float64 is
/// rounded to nearest, ties to even; the other types are exact. A vector may be empty.
///
/// Cost: reads the header and the tensor, no other data of the file.
/// Errors: those of LoadTable, with one dimension in place of two, and
///   INVALID_ARGUMENT  [TENSOR_NOT_FOUND] no name for a .safetensors file, or a name for an .npy file.
[[nodiscard]] absl::StatusOr<std::vector<float>> LoadVector(const std::string& path, const std::string& tensor);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_LOAD_VECTOR_H_
