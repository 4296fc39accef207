#ifndef EMBD_SERVER_SERVICE_VECTOR_TENSOR_H_
#define EMBD_SERVER_SERVICE_VECTOR_TENSOR_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/v1/tensor.pb.h"

namespace embd::service {

/// How many vectors one call may compare with a table.
inline constexpr std::int64_t kMaxVectors = 1024;

/// The elements of the field `vectors` of a request, which must be (N, dim) or (dim) with N in [1, kMaxVectors],
/// rounded to float32.
///
/// Errors:
///   INVALID_ARGUMENT  those of ToVectorType; [INVALID_SHAPE] another shape, or data of another size
[[nodiscard]] absl::StatusOr<std::vector<float>> ReadVectors(const v1::Tensor& vectors, std::int64_t dim);

}  // namespace embd::service

#endif  // EMBD_SERVER_SERVICE_VECTOR_TENSOR_H_
