#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_ROW_SEARCH_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_ROW_SEARCH_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// What a row scores with a query.
enum class RowScore {
  kCosine,    ///< the cosine, clamped to [-1, 1]; norms count as 1e-8 at least; the largest is the best
  kDot,       ///< scale * dot product + the row's bias; the largest is the best
  kDistance,  ///< the Euclidean distance; the smallest is the best
};

/// What is searched for. The spans are kept by nobody.
struct RowSearch {
  std::span<const float> queries;  ///< (N, dim) of the table
  RowScore score = RowScore::kCosine;
  std::int64_t top_k = 10;      ///< how many rows a query, at least 1; fewer are found where there are fewer
  double scale = 1.0;           ///< of kDot; finite
  std::span<const float> bias;  ///< of kDot: one a row; empty: none
  /// For each query the rows that are not found, in ascending order; empty: none for any.
  std::span<const std::vector<std::int64_t>> left_out;
};

/// A row that was found.
struct ScoredRow {
  std::int64_t row = 0;
  double score = 0;
};

/// The scores of one query with some rows that follow each other, in float32.
struct ScoreBlock {
  std::int64_t piece = 0;  ///< of 0 … SearchPieces() - 1
  std::int64_t query = 0;
  std::int64_t first_row = 0;
  /// By kDot: float32(scale) * dot + bias. The dot product is that of DotRows with the row as float32. No SIMD width,
  /// thread count or other query changes a bit. Valid during the call.
  std::span<const float> scores;
};

/// Takes the scores of all rows, those left out included. Called by several threads at once; for one piece and query in
/// ascending order of rows and never by two threads at once.
using ScoreVisitor = std::function<void(const ScoreBlock& block)>;

/// Into how many pieces a search of that table is shared out; nothing but the table's shape and type has a say.
[[nodiscard]] std::int64_t SearchPieces(const Table& table);

/// Finds for each query the rows that score best, exactly: what is returned are the results of a search that computes
/// every score in double by FixedOrderDot (of the difference, for kDistance) from rows that are not rounded.
///
/// The best come first; of equal scores the lower row; NaN last. Every row is read once for all queries and scored in
/// float32; only those that might be among the best, as far as float32 can tell, are scored in double.
///
/// `visit`, unless empty, gets the float32 scores. Threads: those of `share`. The result depends on none of them.
/// Cost: reading the table once, or N · rows · dim multiplications and additions where that takes longer; rows on which
/// float32 cannot decide (a table of equal rows, NaNs, queries of zeros) take some 10 times as long. Memory: N · top_k
/// rows that are found, and about 100 KiB a thread, more where dim exceeds 4096.
///
/// Errors: what `share` ends with.
[[nodiscard]] absl::StatusOr<std::vector<std::vector<ScoredRow>>> SearchRows(const Table& table,
                                                                             const RowSearch& search, ShareOut share,
                                                                             const ScoreVisitor& visit = nullptr);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_ROW_SEARCH_H_
