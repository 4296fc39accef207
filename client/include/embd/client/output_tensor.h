#ifndef EMBD_CLIENT_OUTPUT_TENSOR_H_
#define EMBD_CLIENT_OUTPUT_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "embd/client/enums.h"

namespace embd::client {

/// A tensor of a reply.
///
/// Ownership: owns its elements. Thread safety: thread-compatible.
struct OutputTensor {
  DataType data_type = DataType::kUnspecified;
  /// The extents, outermost first.
  std::vector<std::int64_t> shape = {};
  /// The elements: row-major, little-endian, without padding; exactly as many as `shape` says.
  std::string data = {};

  /// The elements as float. Valid as long as this tensor is neither moved nor destroyed.
  ///
  /// Errors:
  ///   FAILED_PRECONDITION  they have another type; the message names it.
  [[nodiscard]] absl::StatusOr<std::span<const float>> floats() const;
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_OUTPUT_TENSOR_H_
