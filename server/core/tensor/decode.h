#ifndef EMBD_SERVER_CORE_TENSOR_DECODE_H_
#define EMBD_SERVER_CORE_TENSOR_DECODE_H_

#include <cstddef>
#include <span>

#include "server/core/tensor/element_type.h"

namespace embd::core {

/// Writes the first `out.size()` elements of `source`, little-endian values of `type`, to `out` as doubles; always
/// exact. `source` need not be aligned and does not overlap `out`.
void DecodeToDouble(const std::byte* source, ElementType type, std::span<double> out);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TENSOR_DECODE_H_
