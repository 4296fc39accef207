#ifndef EMBD_SERVER_CORE_KERNELS_COMPOSE_H_
#define EMBD_SERVER_CORE_KERNELS_COMPOSE_H_

#include <cstddef>
#include <cstdint>

#include "server/core/table/table.h"
#include "server/core/tensor/element_type.h"

namespace embd::core {

/// What one call of a kernel works on: `row_count` output rows, one after the other at `out`.
///
/// At least one of the tables is there; where both are, they have the same dim. `token_rows` and `position_rows` name
/// one row each for every output row and have been checked against their tables. `out` has room for row_count * dim
/// elements of `output_type` (float32, float16 or bfloat16), is aligned to one of them, and overlaps nothing.
struct ComposeArguments {
  const Table* token = nullptr;
  const std::int64_t* token_rows = nullptr;
  const Table* position = nullptr;
  const std::int64_t* position_rows = nullptr;
  std::size_t row_count = 0;
  ElementType output_type = ElementType::kFloat32;
  std::byte* out = nullptr;
};

/// Writes each output row once: token row, position row, or their sum.
///
/// Every element is widened to float32 (exactly; float64 is rounded to nearest even), added in float32, and rounded to
/// the output type once, to nearest even. A single table already stored in the output type is copied bit for bit. NaNs
/// that are converted keep sign and upper payload bits and become quiet. Every SIMD target gives the same bits as
/// ComposeReference. Thread safety: thread-safe. Cost: one pass; no lock, no allocation, no log.
void Compose(const ComposeArguments& arguments);

/// The same in plain loops: the definition that Compose is tested against.
void ComposeReference(const ComposeArguments& arguments);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_COMPOSE_H_
