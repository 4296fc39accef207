#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_TABLE_STATISTICS_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_TABLE_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/diagnostics/duplicate_rows.h"
#include "server/core/diagnostics/moments.h"
#include "server/core/table/table.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// The most bins that `ComputeTableStatistics` takes.
inline constexpr std::int64_t kMaxHistogramBins = 1024;

/// The most rows of each kind that are listed.
inline constexpr std::size_t kMaxListedRows = 16;

/// How many values lie in each of some bins of equal width. A bin has its lower edge, the last one both.
struct Histogram {
  std::vector<double> edges;         ///< ascending, one more than bins; empty: there are no values
  std::vector<std::int64_t> counts;  ///< one for each bin
};

/// What the numbers of a table look like.
struct TableStatistics {
  Moments elements;  ///< of the finite elements
  Moments norms;     ///< of the Euclidean norms of the rows that are finite throughout
  std::int64_t nan_count = 0;
  std::int64_t inf_count = 0;
  std::optional<std::pair<std::int64_t, std::int64_t>> first_bad_cell;  ///< row and column of the first NaN or infinity
  std::vector<std::int64_t> bad_rows;                                   ///< the first that hold one, ascending
  std::int64_t zero_rows = 0;                                           ///< rows of zeros only, of either sign
  std::vector<std::int64_t> first_zero_rows;                            ///< ascending
  DuplicateRows duplicates;
  Histogram histogram;  ///< of the norms
};

/// Computes the statistics of a table of any stored type. The histogram has `bins` bins, 0: 20, from the smallest norm
/// to the largest; where all norms are equal, from 0.5 below to 0.5 above, as numpy.histogram has it.
///
/// All is added in double in an order that depends on the table's shape alone. A row of float64 whose squares exceed
/// the largest double (elements beyond 1e154) has no norm and counts as if it had not; sums of such elements may be
/// infinite.
///
/// Cost: one pass over the table, which `share` spreads over threads, and the sorting of its rows by hash; memory 16
/// bytes a row, and at most a few MiB.
///
/// Errors:
///   INVALID_ARGUMENT   [INVALID_OPTION] `bins` is outside [0, 1024].
///   RESOURCE_EXHAUSTED [REQUEST_TOO_LARGE] not enough memory for the table's rows.
///   Those of `share`.
[[nodiscard]] absl::StatusOr<TableStatistics> ComputeTableStatistics(const Table& table, std::int64_t bins,
                                                                     ShareOut share);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_TABLE_STATISTICS_H_
