#ifndef EMBD_TESTS_BENCH_MEDIANS_H_
#define EMBD_TESTS_BENCH_MEDIANS_H_

#include <algorithm>
#include <vector>

namespace embd::bench {

/// The middle one of `values`, of which there is at least one; the upper of two.
inline double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace embd::bench

#endif  // EMBD_TESTS_BENCH_MEDIANS_H_
