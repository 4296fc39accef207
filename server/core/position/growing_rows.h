#ifndef EMBD_SERVER_CORE_POSITION_GROWING_ROWS_H_
#define EMBD_SERVER_CORE_POSITION_GROWING_ROWS_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "server/core/position/sinusoidal.h"
#include "server/core/tensor/aligned_buffer.h"

namespace embd::core {

/// Sinusoidal rows that are computed when they are first asked for, each by itself, and kept: those of a table that
/// grows.
///
/// Room for all of them is set aside at once and takes physical memory only as rows are computed. What a row holds does
/// not depend on who asked when. Thread safety: thread-safe; whoever asks for a row that another thread computes waits
/// for that one row.
class GrowingRows {
 public:
  /// Rows first_row … end_row - 1, of which none is computed yet.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  [OUT_OF_MEMORY] not enough memory.
  ///   INVALID_ARGUMENT    [INVALID_TABLE] end_row is not more than first_row, or the size overflows.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<GrowingRows>> Create(std::int64_t first_row, std::int64_t end_row,
                                                                           SinusoidalRows rows);

  [[nodiscard]] std::int64_t end_row() const { return end_row_; }

  /// Row `index`, in [first_row, end_row). Cost: that of SinusoidalRows::Compute the first time.
  [[nodiscard]] const std::byte* row(std::int64_t index);

 private:
  enum class State : std::uint8_t { kMissing, kBeingComputed, kThere };

  GrowingRows(std::int64_t first_row, std::int64_t end_row, SinusoidalRows rows, AlignedBuffer storage);

  const std::int64_t first_row_;
  const std::int64_t end_row_;
  const SinusoidalRows rows_;
  const std::size_t row_bytes_;
  AlignedBuffer storage_;
  const std::unique_ptr<std::atomic<State>[]> states_;  // one a row
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_POSITION_GROWING_ROWS_H_
