#ifndef EMBD_SERVER_CORE_ENGINE_BATCH_SHAPE_H_
#define EMBD_SERVER_CORE_ENGINE_BATCH_SHAPE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/core/engine/embed_input.h"

namespace embd::core {

/// The checked shape of one batch: B rows of cells, which are equally long, or ragged.
///
/// A cell is numbered as the caller's values are: row after row, without padding. An output row is one row of the
/// (output_rows, D) result, padding included.
class BatchShape {
 public:
  /// Errors:
  ///   INVALID_ARGUMENT  [INVALID_SHAPE] B or T out of range; row_lengths that are negative, or not B, or longer than
  ///   T;
  ///                     [INVALID_OPTION] options of ragged rows without row_lengths, or that exclude each other
  [[nodiscard]] static absl::StatusOr<BatchShape> Create(const EmbedInput& input);

  /// One row of so many cells, whose result is (cells, D).
  [[nodiscard]] static BatchShape Packed(std::int64_t cells);

  [[nodiscard]] std::int64_t batch_size() const { return batch_size_; }
  /// T: of every row, or of the padded result.
  [[nodiscard]] std::int64_t sequence_length() const { return sequence_length_; }
  [[nodiscard]] bool is_ragged() const { return !row_starts_.empty(); }
  [[nodiscard]] bool is_packed() const { return packed_; }
  /// How many values a field has that has one a cell.
  [[nodiscard]] std::int64_t cells() const { return cells_; }
  /// Rows of the result: cells(), or B * T where ragged rows are padded.
  [[nodiscard]] std::int64_t output_rows() const {
    return is_ragged() && !packed_ ? batch_size_ * sequence_length_ : cells_;
  }
  /// The first cell of row `b`, in [0, B].
  [[nodiscard]] std::int64_t row_start(std::int64_t b) const {
    return is_ragged() ? row_starts_[static_cast<std::size_t>(b)] : b * sequence_length_;
  }
  [[nodiscard]] std::int64_t row_length(std::int64_t b) const { return row_start(b + 1) - row_start(b); }
  /// In the padded result, the first output row of row `b` that is no padding.
  [[nodiscard]] std::int64_t first_output_row(std::int64_t b) const {
    return b * sequence_length_ + (pad_left_ ? sequence_length_ - row_length(b) : 0);
  }
  /// Extents of the result: (B, T, dim), or (cells, dim) where rows are packed.
  [[nodiscard]] std::vector<std::int64_t> OutputShape(std::int64_t dim) const;
  /// A cell's place.
  struct Place {
    std::int64_t row;
    std::int64_t column;
  };
  [[nodiscard]] Place PlaceOf(std::int64_t cell) const;
  /// The place behind `place`, in the next row that has cells where its row ends; behind the last cell anything.
  [[nodiscard]] Place Next(Place place) const {
    if (++place.column < row_length(place.row)) return place;
    do {
      ++place.row;
    } while (place.row < batch_size_ && row_length(place.row) == 0);
    return {place.row, 0};
  }
  /// "name[b][t]", for messages.
  [[nodiscard]] std::string CellName(absl::string_view name, std::int64_t cell) const;
  /// "batch_size 2 x sequence_length 3", or "row_lengths has 4 values summing to 9", for messages.
  [[nodiscard]] std::string Describe() const;

 private:
  BatchShape() = default;
  [[nodiscard]] static absl::StatusOr<BatchShape> Rectangular(const EmbedInput& input);
  [[nodiscard]] static absl::StatusOr<BatchShape> Ragged(const EmbedInput& input);

  std::int64_t batch_size_ = 0;
  std::int64_t sequence_length_ = 0;
  std::int64_t cells_ = 0;
  bool packed_ = false;
  bool pad_left_ = false;
  std::vector<std::int64_t> row_starts_;  // B + 1 where ragged, else empty
};

}  // namespace embd::core

#endif  // EMBD_SERVER_CORE_ENGINE_BATCH_SHAPE_H_
