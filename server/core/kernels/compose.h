#ifndef EMBD_SERVER_CORE_KERNELS_COMPOSE_H_
#define EMBD_SERVER_CORE_KERNELS_COMPOSE_H_

#include <cstddef>

#include "server/core/kernels/layer_norm.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// One term of a sum: for every output row the address of a stored row of `dim` elements.
struct Term {
  const std::byte* const* rows = nullptr;  ///< `row_count` addresses, each aligned to an element; null: no such term
  ElementType type = ElementType::kFloat32;
};

/// Who reads the output next, and so how it is best written.
enum class Stores {
  kCached,     ///< this core or another one, at once: through the caches
  kStreaming,  ///< somebody later, or what is written is more than the caches hold: past them
};

/// From how many bytes of output on kStreaming is the faster way to write what nobody reads at once: about what is left
/// of a second-level cache. Measured; below it, writing takes up to twice as long past the caches.
inline constexpr std::size_t kStreamingBytes = std::size_t{1} << 20;

/// What one call of a kernel works on: `row_count` output rows, one after the other at `out`, or each at an address of
/// its own.
///
/// The first term is always there, the third only where the second is. An output row has room for `dim` elements of
/// `output_type` (float32, float16 or bfloat16), is aligned to one of them, and overlaps nothing.
struct ComposeArguments {
  Term first;
  float scale = 1.0f;               ///< of the first term
  const float* divisors = nullptr;  ///< of the scaled first term, one an output row; null: none
  Term second;
  Term third;
  const LayerNormParameters* layer_norm = nullptr;  ///< of `dim` elements; null: none
  std::size_t dim = 0;
  std::size_t row_count = 0;
  ElementType output_type = ElementType::kFloat32;
  bool saturate = false;  ///< finite results beyond the output type's largest finite value become that value
  std::byte* out = nullptr;
  std::byte* const* out_rows = nullptr;  ///< `row_count` addresses in place of `out`; null: the rows follow each other
  Stores stores = Stores::kCached;       ///< changes the speed only
};

/// Writes each output row once: LayerNorm(scale * first / divisor + second + third), as far as these are there.
///
/// Every element is widened to float32 (exactly; float64 is rounded to nearest even), multiplied, divided and added in
/// float32 in that order, and rounded to the output type once, to nearest even. A single unscaled term already stored
/// in the output type is copied bit for bit. NaNs that are converted keep sign and upper payload bits and become quiet.
/// Every SIMD target gives the same bits as ComposeReference. Thread safety: thread-safe. Cost: one pass for up to two
/// terms, or three that are stored in one type, without divisors and LayerNorm, to float32 or without `saturate`; else
/// some rows at a time go through a buffer that stays in the cache, the one allocation of a call. No lock, no log.
void Compose(const ComposeArguments& arguments);

/// The same in plain loops: the definition that Compose is tested against.
void ComposeReference(const ComposeArguments& arguments);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_COMPOSE_H_
