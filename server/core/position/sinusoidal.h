#ifndef EMBD_SERVER_CORE_POSITION_SINUSOIDAL_H_
#define EMBD_SERVER_CORE_POSITION_SINUSOIDAL_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"

namespace embd::core {

/// The float32 table (rows, dim) of sinusoidal positions, interleaved:
///
///     table[p, 2i] = sin(p · base^(-2i/dim))        table[p, 2i + 1] = cos(p · base^(-2i/dim))
///
/// computed in double and rounded once, so that large positions lose nothing: a float32 evaluation of the formula is
/// off by up to p·2⁻²³. Columns 0 and 1 turn fastest, one turn in 2·pi rows; the last pair turns slowest. Cost: one
/// sine and one cosine in double a pair, about 30 ns.
///
/// Errors, in this order:
///   INVALID_ARGUMENT   [INVALID_TABLE] `rows` (the model's max_context_length) or `dim` is less than 1; `dim` is odd;
///                      `base` is not finite, not > 0, or so small that an angle exceeds double; the size overflows.
///   RESOURCE_EXHAUSTED [OUT_OF_MEMORY] not enough memory.
[[nodiscard]] absl::StatusOr<Table> SinusoidalTable(std::int64_t rows, std::int64_t dim, double base);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_SINUSOIDAL_H_
