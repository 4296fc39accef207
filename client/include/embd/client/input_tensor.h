#ifndef EMBD_CLIENT_INPUT_TENSOR_H_
#define EMBD_CLIENT_INPUT_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "embd/client/enums.h"

namespace embd::client {

/// A tensor that goes along with a request. Nothing is checked here; the server does.
///
/// Ownership: owns its elements, so that a request stays whole however long a call or a fake keeps it. They are copied
/// once more, into the message that is sent.
struct InputTensor {
  DataType data_type = DataType::kUnspecified;
  /// The extents, outermost first.
  std::vector<std::int64_t> shape = {};
  /// The elements: row-major, little-endian, without padding.
  std::vector<std::byte> bytes = {};

  /// A FLOAT32 tensor of a copy of `values`, as many as `shape` says.
  [[nodiscard]] static InputTensor FromFloats(std::span<const float> values, std::vector<std::int64_t> shape);
};

}  // namespace embd::client

#endif  // EMBD_CLIENT_INPUT_TENSOR_H_
