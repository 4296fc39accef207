#ifndef EMBD_CLIENT_SRC_COMPOSE_ROWS_H_
#define EMBD_CLIENT_SRC_COMPOSE_ROWS_H_

#include <cstddef>
#include <vector>

#include "embd/client/enums.h"

namespace embd::client {

/// Makes rows of the result from kept ones, in the server's arithmetic: a sum of float32, rounded once.
///
/// Thread safety: not thread-safe; one a call.
class RowComposer {
 public:
  /// Rows of D = `dim` elements, kept as `row_type`, become `output_type`; both are kFloat32, kFloat16 or kBfloat16.
  RowComposer(std::size_t dim, DataType row_type, DataType output_type)
      : dim_(dim), row_type_(row_type), output_type_(output_type), sum_(dim) {}

  /// Writes `token` plus `position`, or `token` alone where `position` is null, to `out`, which may be aligned anyhow.
  /// Where nothing is added and the types are equal, bits are copied.
  void Compose(const std::byte* token, const float* position, std::byte* out);

 private:
  std::size_t dim_;
  DataType row_type_;
  DataType output_type_;
  std::vector<float> sum_;  // of one row, where it is not written at once
};

/// `count` elements of one of the three types as floats.
void Widen(const std::byte* values, DataType type, std::size_t count, float* out);

}  // namespace embd::client

#endif  // EMBD_CLIENT_SRC_COMPOSE_ROWS_H_
