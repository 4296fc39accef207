#ifndef EMBD_SERVER_CORE_KERNELS_WEIGHTED_VECTORS_H_
#define EMBD_SERVER_CORE_KERNELS_WEIGHTED_VECTORS_H_

#include <cstddef>
#include <span>

// Products with a (count, dim) matrix of float32 vectors, in double. Orders of addition are part of the contract, so
// that no SIMD width changes a bit. Thread safety: thread-safe. Cost: count * dim multiply-adds; no allocation.
namespace embd::core {

/// out[n] = the dot product of `row`, of dim elements, and vector n. Element i goes to sum i mod 16, in ascending
/// order, and the sixteen are added pairwise (s0 + s8, …, then +4, +2, +1).
void DotEach(std::span<const double> row, const float* vectors, std::span<double> out);

/// sum[d] = the sum over n of weights[n] * vectors[n][d], in ascending order of n.
void AddWeighted(std::span<const double> weights, const float* vectors, std::span<double> sum);

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_KERNELS_WEIGHTED_VECTORS_H_
