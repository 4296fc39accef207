#ifndef EMBD_SERVER_FORMATS_SAME_TENSOR_H_
#define EMBD_SERVER_FORMATS_SAME_TENSOR_H_

#include <string>

#include "absl/status/statusor.h"

namespace embd::formats {

/// A tensor of a .safetensors file.
struct TensorInFile {
  std::string path;
  std::string tensor;
};

/// Whether two tensors have the same type, shape and bytes.
///
/// Cost: two headers; where type and shape agree, one pass over both tensors up to the first difference, with two
/// buffers of 1 MiB.
/// Errors (each message begins with a path):
///   those of `FileReader::Open`, `ReadSafetensorsHeader` and `FileReader::ReadAt`, and
///   INVALID_ARGUMENT    [TENSOR_NOT_FOUND] a file has no such tensor.
///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] not enough memory.
[[nodiscard]] absl::StatusOr<bool> SameTensor(const TensorInFile& a, const TensorInFile& b);

}  // namespace embd::formats

#endif  // EMBD_SERVER_FORMATS_SAME_TENSOR_H_
