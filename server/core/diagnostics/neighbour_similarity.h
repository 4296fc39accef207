#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_NEIGHBOUR_SIMILARITY_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_NEIGHBOUR_SIMILARITY_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"

namespace embd::core {

/// The largest offset that `NeighbourSimilarity` takes.
inline constexpr std::int64_t kMaxNeighbourOffset = 4096;

/// Which rows are compared.
struct NeighbourOptions {
  std::int64_t max_offset = 0;  ///< K, at most kMaxNeighbourOffset; 0: 8, or one less than the rows where that is less
  std::int64_t first_row = 0;   ///< the first row looked at
  std::int64_t row_count = 0;   ///< rows from there on; 0: all
};

/// How alike rows are that lie k apart. Each list has one value for each k = 1 … K, that of k at index k - 1.
struct NeighbourCurve {
  std::int64_t rows = 0;       ///< rows looked at
  std::vector<double> mean;    ///< mean over p of cos(row p, row p + k), p and p + k both among those rows
  std::vector<double> min;     ///< the smallest of them
  std::vector<double> max;     ///< the largest of them
  std::int64_t zero_rows = 0;  ///< rows whose norm is below 1e-8
  int monotone_steps = 0;      ///< for how many k < K the curve does not rise by more than 1e-3
};

/// Computes the neighbour curve of a table of any stored type.
///
/// Norms are clamped to at least 1e-8, so a zero row has cosine 0 with every other; cosines lie in [-1, 1]. A row that
/// holds a NaN or an infinity makes the mean, min and max of every k that meets it NaN. All is summed in double in one
/// order, so the result does not depend on the CPU. (Squares of float64 elements beyond 1e154 overflow.)
///
/// `stop`, unless empty, is asked every few thousand dot products.
/// Cost: rows · (K + 1) dot products of dim, about 4 multiply-adds a nanosecond; memory 8 bytes a row and at most 1
/// MiB, more only where dim exceeds 8192.
///
/// Errors:
///   INVALID_ARGUMENT   [INVALID_OPTION] an option is outside its range; with its value and the range.
///   CANCELLED          `stop` said true.
///   RESOURCE_EXHAUSTED [OUT_OF_MEMORY] not enough memory.
[[nodiscard]] absl::StatusOr<NeighbourCurve> NeighbourSimilarity(const Table& table, const NeighbourOptions& options,
                                                                 const std::function<bool()>& stop = nullptr);

/// The exact curve of sinusoidal positions, which neither p nor the number of rows changes:
/// (2/dim) · sum over i < dim/2 of cos(k / base^(2i/dim)) for k = 1 … max_offset. `dim` is even and at least 2, `base`
/// > 0.
[[nodiscard]] std::vector<double> SinusoidalClosedForm(std::int64_t dim, double base, std::int64_t max_offset);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_NEIGHBOUR_SIMILARITY_H_
