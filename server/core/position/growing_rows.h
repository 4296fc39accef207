#ifndef EMBD_SERVER_CORE_POSITION_GROWING_ROWS_H_
#define EMBD_SERVER_CORE_POSITION_GROWING_ROWS_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/core/position/sinusoidal.h"
#include "server/core/tensor/aligned_buffer.h"
#include "server/core/threads/mutex.h"

namespace embd::core {

/// Sinusoidal rows that are computed when they are first asked for, and kept: those of a table that grows.
///
/// Room for all of them is set aside at once and takes physical memory only as rows are computed. What a row holds does
/// not depend on who asked when. Thread safety: thread-safe; rows that are there are read without a lock.
class GrowingRows {
 public:
  /// Rows first_row … end_row - 1, of which none is computed yet.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] not enough memory.
  ///   INVALID_ARGUMENT    [INVALID_TABLE] end_row is not more than first_row, or the size overflows.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<GrowingRows>> Create(std::int64_t first_row, std::int64_t end_row,
                                                                           SinusoidalRows rows);

  /// Computes what is missing of the rows before `end_row`, which is at most this->end_row(). Others that ask meanwhile
  /// wait.
  void EnsureRows(std::int64_t end_row);

  [[nodiscard]] std::int64_t first_row() const { return first_row_; }
  [[nodiscard]] std::int64_t end_row() const { return end_row_; }
  /// A row that EnsureRows has computed.
  [[nodiscard]] const std::byte* row(std::int64_t index) const {
    return storage_.data() + static_cast<std::size_t>(index - first_row_) * row_bytes_;
  }

 private:
  GrowingRows(std::int64_t first_row, std::int64_t end_row, SinusoidalRows rows, AlignedBuffer storage);

  const std::int64_t first_row_;
  const std::int64_t end_row_;
  const SinusoidalRows rows_;
  const std::size_t row_bytes_;
  AlignedBuffer storage_;                  // written behind computed_end_ only, and only with the lock
  std::atomic<std::int64_t> computed_end_;
  Mutex mutex_;
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_GROWING_ROWS_H_
