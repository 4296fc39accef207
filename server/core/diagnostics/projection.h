#ifndef EMBD_SERVER_CORE_DIAGNOSTICS_PROJECTION_H_
#define EMBD_SERVER_CORE_DIAGNOSTICS_PROJECTION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// Vectors to be scored against the rows of a table. The spans are kept by nobody.
struct ProjectionInput {
  std::span<const float> vectors;            ///< (N, dim) of the table
  std::int64_t top_k = 0;                    ///< how many rows a vector, from 1 to those of the table
  std::span<const std::int64_t> candidates;  ///< rows of the table to score in place of the best ones; empty: none
  double scale = 1.0;                        ///< of dot products; finite, > 0
  std::span<const float> bias;               ///< one a row; empty: none
  std::optional<double> softcap;             ///< finite, > 0
  bool log_probabilities = false;            ///< logarithms of the softmax over all rows in place of scores
};

/// Rows and their scores, vector by vector; k a vector, where k is top_k or how many candidates there are.
struct Projection {
  std::vector<std::int64_t> ids;   ///< (N, k)
  std::vector<float> scores;       ///< (N, k)
  std::vector<float> log_sum_exp;  ///< (N), with log_probabilities
};

/// Scores rows: scale · (vector . row), plus the row's bias, then softcap · tanh(score / softcap), in double and
/// rounded once. The best come first, as they are before the softcap, which moves none past another; of equal ones the
/// lower row; NaN last. Candidates keep their order.
///
/// The logarithm of the sum of all exp(score) is summed in double, in one order, from the float32 scores of SearchRows;
/// it is as exact as those. The result depends on neither SIMD width, threads nor the other vectors.
/// Cost: as SearchRows; with log_probabilities some 10 ns more a vector and row; for candidates alone a dot product
/// each. Memory: what is returned, 16 bytes a score while it is made, and with log_probabilities 24 bytes a vector and
/// piece of SearchPieces.
///
/// Errors: what `share` ends with.
[[nodiscard]] absl::StatusOr<Projection> Project(const Table& table, const ProjectionInput& input, ShareOut share);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_DIAGNOSTICS_PROJECTION_H_
