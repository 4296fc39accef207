#ifndef EMBD_SERVER_CORE_KERNELS_ROTATE_H_
#define EMBD_SERVER_CORE_KERNELS_ROTATE_H_

#include <cstddef>

#include "server/core/position/rotary.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// Where the two turned components of a pair go: back to their places, or into a half of the output each (for
/// interleaved pairs: all first components, then all second ones).
enum class RotaryLayout { kSame, kSplit };

/// What one call of the kernel works on: `vector_count` vectors of `head_dim` components, one after the other.
///
/// The first `paired_dim` components (even, 2 to head_dim) are turned, the rest passes through. `cos` and `sin` hold
/// paired_dim / 2 values for the first vector; those of vector r begin `table_step` floats times r behind them, so that
/// 0 turns all vectors alike. `in` and `out` are aligned to one of their elements and do not overlap; `out` is float32,
/// float16 or bfloat16. kSplit goes with kInterleaved.
struct RotateArguments {
  std::size_t vector_count = 0;
  std::size_t head_dim = 0;
  std::size_t paired_dim = 0;
  RotaryPairing pairing = RotaryPairing::kHalf;
  RotaryLayout layout = RotaryLayout::kSame;
  const float* cos = nullptr;
  const float* sin = nullptr;
  std::size_t table_step = 0;
  ElementType input_type = ElementType::kFloat32;
  const std::byte* in = nullptr;
  ElementType output_type = ElementType::kFloat32;
  std::byte* out = nullptr;
};

/// Writes each turned vector once: (a, b) becomes (a·cos − b·sin, b·cos + a·sin).
///
/// Every component is widened to float32 (exactly; float64 is rounded to nearest even), multiplied and added in float32
/// without fusing, and rounded to the output type once, to nearest even. Components that pass through in their own type
/// are copied bit for bit. Every SIMD target gives the same bits as RotateReference, except for the payload of NaNs.
/// Thread safety: thread-safe. Cost: one pass; no lock, no allocation, no log.
void Rotate(const RotateArguments& arguments);

/// The same in plain loops: the definition that Rotate is tested against.
void RotateReference(const RotateArguments& arguments);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_ROTATE_H_
