#ifndef EMBD_SERVER_CORE_TABLE_SEEDED_TABLE_H_
#define EMBD_SERVER_CORE_TABLE_SEEDED_TABLE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"

namespace embd::core {

/// What a seeded table is for. Tables of one seed and different streams have nothing in common. The numbers are part of
/// the contract: they decide the values.
enum class SeedStream : std::uint32_t { kToken = 1, kPosition = 2, kTokenType = 3, kOutput = 4 };

/// A float32 table of values drawn from normal(mean, std). The same arguments give the same bytes on every machine, for
/// any number of threads, in any version.
///
/// In row-major order, elements 2n and 2n + 1 are float(mean + std·z), computed in double and rounded once, of the two
/// values z that `StandardNormals` makes of `Philox4x32({n mod 2³², n / 2³², stream, 0}, {seed mod 2³², seed / 2³²})`.
/// So a table of more rows begins with the rows of a smaller one of the same `dim`.
///
/// Cost: about 30 ns an element and thread. `threads` is how many fill the table; 0: as many as the machine has and the
/// size is worth, at most 16.
///
/// Errors:
///   INVALID_ARGUMENT   [INVALID_TABLE] rows or dim is less than 1, or their product overflows; `mean` is not
///                      finite; `std` is negative or not finite; values would exceed float32.
///   RESOURCE_EXHAUSTED [OUT_OF_MEMORY] not enough memory.
[[nodiscard]] absl::StatusOr<Table> SeededTable(std::int64_t rows, std::int64_t dim, double mean, double std,
                                                std::uint64_t seed, SeedStream stream, int threads = 0);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_TABLE_SEEDED_TABLE_H_
