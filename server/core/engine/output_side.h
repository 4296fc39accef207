#ifndef EMBD_SERVER_CORE_ENGINE_OUTPUT_SIDE_H_
#define EMBD_SERVER_CORE_ENGINE_OUTPUT_SIDE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "server/core/table/table.h"
#include "server/core/threads/share_out.h"

namespace embd::core {

/// The most vectors that GradientOfOutputSide takes.
inline constexpr std::int64_t kMaxOutputVectors = 1024;

/// What a loss says of the projection that it came through.
struct OutputSideGradient {
  double loss = 0;
  std::vector<double> row_norms;  ///< the Euclidean norm of each table row's gradient
};

/// The loss is the mean over n of the cross entropy between softmax(hidden[n] · table^T) and targets[n]; the gradient
/// of row v is the sum over n of (softmax[n, v] - [v = targets[n]]) · hidden[n] / N. All in double, in orders that no
/// number of threads and no SIMD width changes (kernels/weighted_vectors.h; rows of the table in 256 ranges, or more
/// than 64 rows each). `hidden` is (N, D).
///
/// Cost: 3 · N · V · D multiply-adds, on the threads of `share`; memory for 512 doubles a vector, and one for each row.
///
/// Errors: those of `share`, and
///   INVALID_ARGUMENT  [INVALID_SHAPE] N is 0, too large, or not that of both; [ID_OUT_OF_RANGE] a target is no row
[[nodiscard]] absl::StatusOr<OutputSideGradient> GradientOfOutputSide(const Table& table,
                                                                      std::span<const std::int64_t> targets,
                                                                      std::span<const float> hidden, ShareOut share);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_OUTPUT_SIDE_H_
