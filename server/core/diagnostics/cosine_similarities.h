#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_COSINE_SIMILARITIES_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_COSINE_SIMILARITIES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// The most rows that `CosineSimilarities` compares.
inline constexpr std::int64_t kMaxCosineRows = 1024;

/// Which rows are compared: a window, or those that are named.
struct CosineOptions {
  std::int64_t first_row = 0;              ///< the first row of the window
  std::int64_t row_count = 0;              ///< rows from there on; 0: 64, or as many as there are
  std::vector<std::int64_t> row_ids = {};  ///< in place of a window; may name a row twice
};

/// The cosine of each pair of n rows.
struct CosineMatrix {
  std::vector<std::int64_t> row_ids;  ///< the n rows
  std::vector<float> cosines;         ///< (n, n), symmetric
};

/// Computes the cosines of all pairs of some rows of a table of any stored type.
///
/// Norms are clamped to at least 1e-8, so a zero row has cosine 0 with every other, and with itself. Cosines lie in
/// [-1, 1]; those of a row that holds a NaN or an infinity are NaN. All is summed in double by FixedOrderDot, so that
/// the cosine of two rows depends on these two alone. (Squares of float64 elements beyond 1e154 overflow.)
///
/// Cost: n · (n + 1) / 2 dot products of dim, which `share` spreads over threads; memory 12 bytes a pair, and at most 1
/// MiB a thread, more only where dim exceeds 65536.
///
/// Errors:
///   INVALID_ARGUMENT [INVALID_OPTION] an option is outside its range; [ID_OUT_OF_RANGE] a row that the table has not.
///   Those of `share`.
[[nodiscard]] absl::StatusOr<CosineMatrix> CosineSimilarities(const Table& table, CosineOptions options,
                                                              ShareOut share);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_COSINE_SIMILARITIES_H_
