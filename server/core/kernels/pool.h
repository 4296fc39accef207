#ifndef EMBD_SERVER_CORE_KERNELS_POOL_H_
#define EMBD_SERVER_CORE_KERNELS_POOL_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "server/core/tensor/element_type.h"

namespace embd::core {

/// How the rows of a bag become one vector.
enum class BagMode {
  kSum,    ///< sum of w x
  kMean,   ///< sum of w x / sum of w
  kMax,    ///< the largest of each component, NaN where one is NaN; takes no weights
  kSqrtN,  ///< sum of w x / sqrt(sum of w^2)
};

/// The token rows that ids name, and which of them count.
struct PooledRows {
  const std::byte* table = nullptr;  ///< row after row, each aligned to an element
  std::uint64_t row_count = 0;       ///< V
  std::size_t dim = 0;               ///< D
  ElementType type = ElementType::kFloat32;
  float scale = 1.0f;                   ///< of every row
  std::int64_t padding_idx = -1;        ///< ids equal to it count for nothing; -1: none
  const std::byte* stand_in = nullptr;  ///< the row of ids outside [0, V); null: there are none
};

/// What one call of the kernel works on.
struct PoolArguments {
  PooledRows rows;
  BagMode mode = BagMode::kMean;
  std::span<const std::int64_t> row_lengths;        ///< of each bag, at least 0
  const std::int64_t* ids = nullptr;                ///< of all bags, one after the other
  const float* weights = nullptr;                   ///< one an id; null: all 1
  ElementType output_type = ElementType::kFloat32;  ///< float32, float16 or bfloat16
  bool saturate = false;     ///< finite results beyond the output type's largest finite value become that value
  std::byte* out = nullptr;  ///< the vector of the first bag, aligned to an element
  std::size_t out_step = 0;  ///< bytes from one bag's vector to the next one's
};

/// Writes one vector of D elements a bag.
///
/// Rows are widened to float32 (exactly; float64 is rounded to nearest even), multiplied by the scale, then by the
/// weight, and added in float32 to 0 in the order of the ids; each product is rounded before it is added. The sum is
/// divided once, by what the weights give: they are added, or their squares, in double in the order of the ids, and the
/// sum, or its root, is rounded to float32. Where that is 0, and where no id counts, the vector is zero. The result is
/// rounded to the output type once, to nearest even. Every SIMD target gives the same bits, NaN payloads aside.
/// Thread safety: thread-safe. Cost: one pass over the rows; no allocation, no lock, no log.
void Pool(const PoolArguments& arguments);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_POOL_H_
