#ifndef EMBD_SERVER_CORE_KERNELS_SCORE_ROWS_H_
#define EMBD_SERVER_CORE_KERNELS_SCORE_ROWS_H_

#include <cstddef>

namespace embd::core {

/// Rows and queries of `dim` float32 elements, each one after the other.
struct DotArguments {
  const float* rows = nullptr;
  std::size_t row_count = 0;
  const float* queries = nullptr;
  std::size_t query_count = 0;
  std::size_t dim = 0;
  float* dots = nullptr;     ///< (query_count, row_count): the dot product of each query with each row
  float* squares = nullptr;  ///< (row_count): each row's dot product with itself; null: not asked for
  /// Products and sums may be rounded together where the target can: up to twice as fast, and the bits depend on it.
  bool may_fuse = false;
};

/// How many queries DotRows takes at once: calls with a multiple of it make the best of each row that is read.
inline constexpr std::size_t kQueriesAtOnce = 4;

/// Writes dot products, computed in float32 in an order that is part of the contract, so that no SIMD width changes a
/// bit: the product of elements i goes to sum i mod 16, in ascending order, and the sixteen are added pairwise (s0 +
/// s8, …, then +4, +2, +1). Nothing is fused. Thread safety: thread-safe. Cost: rows are read once for kQueriesAtOnce
/// queries. No lock, no allocation, no log.
void DotRows(const DotArguments& arguments);

/// Writes 1 / max(sqrt(squares[i]), smallest); of a NaN a NaN.
void InverseNorms(const float* squares, std::size_t count, float smallest, float* out);

/// Turns each of `count` values into value * factors[i] + terms[i], not fused, and tells how many of the results are
/// not less than `cut`; a NaN is not.
[[nodiscard]] std::size_t ScaleAndCount(const float* factors, const float* terms, std::size_t count, float cut,
                                        float* values);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_SCORE_ROWS_H_
