#include "server/core/engine/position_rows.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/core/error.h"
#include "server/core/tensor/first_outside.h"

namespace embd::core {
namespace {

// Positions of parts that look at no table are bounded too, so that sums of them stay far from overflow.
constexpr std::int64_t kMaxPosition = std::int64_t{1} << 62;

std::string OfModel(const Model& model) { return absl::StrCat(" of model ", Quote(model.name())); }

// Numbers the cells of one batch.
class Numberer {
 public:
  Numberer(const Model& model, const EmbedInput& input, const BatchShape& shape)
      : model_(model), input_(input), shape_(shape) {
    if (input.part != Part::kToken && model.position() != nullptr) limit_ = model.max_context_length();
  }

  absl::StatusOr<CellPositions> Number() {
    if (!input_.position_ids.empty()) return Explicit();
    if (absl::Status status = CheckOffsets(); !status.ok()) return status;
    CellPositions positions;
    positions.used = limit_.has_value();
    positions.first_row = model_.row_offset();
    if (positions.used && model_.numbering() == Numbering::kPadding) positions.first_row += *model_.padding_idx() + 1;
    const bool by_values = limit_.has_value() && AreNumberedByValues();
    if (by_values) positions.rows.resize(static_cast<std::size_t>(shape_.cells()));
    for (std::int64_t b = 0; b < shape_.batch_size(); ++b) {
      const std::int64_t counted = by_values ? NumberRow(b, &positions.rows) : shape_.row_length(b);
      if (counted == 0) continue;
      if (absl::Status status = CheckLength(b, counted); !status.ok()) return status;
      positions.length = std::max(positions.length, PositionOffset(input_, b) + counted);
    }
    if (absl::Status status = CheckMaskedRows(positions.rows); !status.ok()) return status;
    positions.end_row = positions.first_row + positions.length;
    for (const std::int64_t row : positions.rows) positions.end_row = std::max(positions.end_row, row + 1);
    return positions;
  }

 private:
  bool AreNumberedByValues() const {
    if (model_.numbering() == Numbering::kPadding) return !input_.ids.empty();
    return !input_.attention_mask.empty() && model_.numbering() != Numbering::kFixed;
  }

  bool IsMasked(std::int64_t cell) const { return input_.attention_mask[static_cast<std::size_t>(cell)] == 0; }

  bool IsPadding(std::int64_t cell) const {
    return input_.ids[static_cast<std::size_t>(cell)] == *model_.padding_idx();
  }

  // Writes the table rows of row `b`; returns how many positions it counts. Rows of sequences that are too long are
  // past the table, and nothing overflows: an offset is at most 2^62.
  std::int64_t NumberRow(std::int64_t b, std::vector<std::int64_t>* rows) const {
    const bool by_ids = model_.numbering() == Numbering::kPadding;
    const std::int64_t uncounted = by_ids ? *model_.padding_idx() + model_.row_offset()
                                          : model_.row_offset() + (model_.numbering() == Numbering::kMask ? -1 : 1);
    const std::int64_t first =
        PositionOffset(input_, b) + model_.row_offset() + (by_ids ? *model_.padding_idx() + 1 : 0);
    std::int64_t counted = 0;
    for (std::int64_t cell = shape_.row_start(b); cell < shape_.row_start(b + 1); ++cell) {
      const bool counts = by_ids ? !IsPadding(cell) : !IsMasked(cell);
      (*rows)[static_cast<std::size_t>(cell)] = counts ? first + counted++ : uncounted;
    }
    return counted;
  }

  // Where the mask or the ids decide what counts, the row is named and what was counted.
  absl::Status CheckLength(std::int64_t b, std::int64_t counted) const {
    if (!limit_.has_value() || counted <= *limit_ - PositionOffset(input_, b)) return absl::OkStatus();
    const std::string limit = absl::StrCat(" exceeds max_context_length ", *limit_, OfModel(model_));
    if (PositionOffset(input_, b) > 0) {
      return InvalidArgument(
          "POSITION_OUT_OF_RANGE",
          absl::StrCat("position_offsets[", input_.position_offsets.size() == 1 ? 0 : b,
                       "] = ", PositionOffset(input_, b), " with ",
                       counted == shape_.row_length(b) ? "sequence_length " : "counted positions ", counted, limit));
    }
    if (counted == shape_.row_length(b)) {
      return InvalidArgument(
          "SEQUENCE_TOO_LONG",
          absl::StrCat(shape_.is_ragged() ? absl::StrCat("row_lengths[", b, "] = ") : "sequence_length ", counted,
                       limit));
    }
    return InvalidArgument("SEQUENCE_TOO_LONG",
                           absl::StrCat(counted,
                                        model_.numbering() == Numbering::kPadding ? " ids that are no padding in row "
                                                                                  : " unmasked cells in row ",
                                        b, limit));
  }

  // Masked cells of kSequential have position 1, which a table of one row has not.
  absl::Status CheckMaskedRows(const std::vector<std::int64_t>& rows) const {
    if (!limit_.has_value()) return absl::OkStatus();
    const std::size_t i = FirstOutside(rows, static_cast<std::uint64_t>(model_.position_rows()));
    if (i == rows.size()) return absl::OkStatus();
    return InvalidArgument("POSITION_OUT_OF_RANGE",
                           absl::StrCat(shape_.CellName("attention_mask", static_cast<std::int64_t>(i)),
                                        " = 0 has position 1, which is outside [0, ", *limit_, ")", OfModel(model_)));
  }

  absl::Status CheckOffsets() const {
    const auto& offsets = input_.position_offsets;
    for (std::size_t b = 0; b < offsets.size(); ++b) {
      if (offsets[b] < 0) {
        return InvalidArgument("POSITION_OUT_OF_RANGE",
                               absl::StrCat("position_offsets[", b, "] = ", offsets[b], " must be >= 0"));
      }
      if (offsets[b] >= kMaxPosition) {
        return InvalidArgument("POSITION_OUT_OF_RANGE",
                               absl::StrCat("position_offsets[", b, "] = ", offsets[b], " must be less than 2^62"));
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<CellPositions> Explicit() const {
    const auto& ids = input_.position_ids;
    if (!input_.position_offsets.empty()) {
      return InvalidArgument("INVALID_OPTION", "position_ids and position_offsets exclude each other");
    }
    const std::uint64_t end =
        static_cast<std::uint64_t>(limit_.has_value() ? model_.position_rows() - model_.row_offset() : kMaxPosition);
    if (const std::size_t i = FirstOutside(ids, end); i < ids.size()) {
      const bool shared = static_cast<std::int64_t>(ids.size()) != shape_.cells();
      const std::string cell = shared ? absl::StrCat("position_ids[", i, "]")
                                      : shape_.CellName("position_ids", static_cast<std::int64_t>(i));
      const std::string allowed = limit_.has_value()
                                      ? absl::StrCat("is outside [0, ", end, ")", OfModel(model_))
                                      : std::string(ids[i] < 0 ? "must be >= 0" : "must be less than 2^62");
      return InvalidArgument("POSITION_OUT_OF_RANGE", absl::StrCat(cell, " = ", ids[i], " ", allowed));
    }
    CellPositions positions;
    positions.used = limit_.has_value();
    positions.first_row = model_.row_offset();
    positions.length = *std::max_element(ids.begin(), ids.end()) + 1;
    positions.end_row = positions.first_row + positions.length;
    if (positions.used && model_.numbering() == Numbering::kPadding) {  // rows up to the padding's count nothing
      positions.length -= std::min(positions.length, *model_.padding_idx() + 1);
    }
    return positions;
  }

  const Model& model_;
  const EmbedInput& input_;
  const BatchShape& shape_;
  std::optional<std::int64_t> limit_;  // positions that the table has room for; nothing where none is used
};

}  // namespace

absl::StatusOr<CellPositions> NumberCells(const Model& model, const EmbedInput& input, const BatchShape& shape) {
  return Numberer(model, input, shape).Number();
}

bool MaskNumbersCells(const Model& model, const EmbedInput& input) {
  return model.position() != nullptr && input.part != Part::kToken && input.position_ids.empty() &&
         (model.numbering() == Numbering::kSequential || model.numbering() == Numbering::kMask);
}

}  // namespace embd::core
