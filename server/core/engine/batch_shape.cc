#include "server/core/engine/batch_shape.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/tensor/checked_math.h"

namespace embd::core {
namespace {

absl::Status Invalid(absl::string_view message) { return InvalidArgument("INVALID_SHAPE", message); }

// Where the rows begin, and where the last one ends.
absl::StatusOr<std::vector<std::int64_t>> RowStarts(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> starts = {0};
  starts.reserve(lengths.size() + 1);
  for (std::size_t b = 0; b < lengths.size(); ++b) {
    if (lengths[b] < 0) return Invalid(absl::StrCat("row_lengths[", b, "] = ", lengths[b], " must be >= 0"));
    if (lengths[b] > std::numeric_limits<std::int64_t>::max() - starts.back()) {
      return Invalid("row_lengths sum up to more than 2^63 - 1");
    }
    starts.push_back(starts.back() + lengths[b]);
  }
  return starts;
}

absl::Status CheckAgrees(const EmbedInput& input, std::int64_t longest) {
  const auto rows = static_cast<std::int64_t>(input.row_lengths.size());
  if (input.batch_size != 0 && input.batch_size != rows) {
    return Invalid(absl::StrCat("row_lengths has ", rows, " values, but batch_size is ", input.batch_size));
  }
  if (input.sequence_length < 0) {
    return Invalid(absl::StrCat("sequence_length must be >= 0 with row_lengths, got ", input.sequence_length));
  }
  if (input.sequence_length != 0 && input.sequence_length < longest) {
    return Invalid(
        absl::StrCat("sequence_length ", input.sequence_length, " is less than the longest of row_lengths, ", longest));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BatchShape> BatchShape::Create(const EmbedInput& input) {
  return input.row_lengths.empty() ? Rectangular(input) : Ragged(input);
}

BatchShape BatchShape::Packed(std::int64_t cells) {
  BatchShape shape;
  shape.batch_size_ = 1;
  shape.sequence_length_ = cells;
  shape.cells_ = cells;
  shape.packed_ = true;
  shape.row_starts_ = {0, cells};
  return shape;
}

absl::StatusOr<BatchShape> BatchShape::Rectangular(const EmbedInput& input) {
  if (input.packed || input.pad_left) {
    return InvalidArgument("INVALID_OPTION", absl::StrCat(input.packed ? "ragged_layout PACKED" : "padding_side LEFT",
                                                          " needs row_lengths"));
  }
  if (input.batch_size < 0) return Invalid(absl::StrCat("batch_size must be >= 0, got ", input.batch_size));
  if (input.sequence_length < 1) {
    return Invalid(absl::StrCat("sequence_length must be >= 1, got ", input.sequence_length));
  }
  BatchShape shape;
  shape.batch_size_ = input.batch_size;
  shape.sequence_length_ = input.sequence_length;
  const auto cells = CheckedProduct({shape.batch_size_, shape.sequence_length_});
  if (!cells.has_value()) {
    return Invalid(absl::StrCat(input.ids_name, " has ", input.ids.size(), " values, but ", shape.Describe(),
                                " asks for more than 2^63 - 1"));
  }
  shape.cells_ = *cells;
  return shape;
}

absl::StatusOr<BatchShape> BatchShape::Ragged(const EmbedInput& input) {
  if (input.packed && input.pad_left) {
    return InvalidArgument("INVALID_OPTION", "padding_side LEFT does not go with ragged_layout PACKED");
  }
  auto starts = RowStarts(input.row_lengths);
  if (!starts.ok()) return starts.status();
  const std::int64_t longest = *std::max_element(input.row_lengths.begin(), input.row_lengths.end());
  if (absl::Status status = CheckAgrees(input, longest); !status.ok()) return status;
  BatchShape shape;
  shape.batch_size_ = static_cast<std::int64_t>(input.row_lengths.size());
  shape.sequence_length_ = input.packed ? longest : std::max(longest, input.sequence_length);
  shape.cells_ = starts->back();
  shape.packed_ = input.packed;
  shape.pad_left_ = input.pad_left;
  shape.row_starts_ = *std::move(starts);
  return shape;
}

std::vector<std::int64_t> BatchShape::OutputShape(std::int64_t dim) const {
  if (packed_) return {cells_, dim};
  return {batch_size_, sequence_length_, dim};
}

BatchShape::Place BatchShape::PlaceOf(std::int64_t cell) const {
  if (!is_ragged()) return {cell / sequence_length_, cell % sequence_length_};
  const auto after = std::upper_bound(row_starts_.begin(), row_starts_.end(), cell);
  const std::int64_t row = after - row_starts_.begin() - 1;
  return {row, cell - row_start(row)};
}

std::string BatchShape::CellName(absl::string_view name, std::int64_t cell) const {
  const Place place = PlaceOf(cell);
  return absl::StrCat(name, "[", place.row, "][", place.column, "]");
}

std::string BatchShape::Describe() const {
  if (is_ragged()) return absl::StrCat("row_lengths has ", batch_size_, " values summing to ", cells_);
  return absl::StrCat("batch_size ", batch_size_, " x sequence_length ", sequence_length_);
}

}  // namespace embd::core
