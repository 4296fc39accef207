#include "client/fake/positions.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "client/fake/lookup.h"
#include "client/fake/refusal.h"

namespace embd::client::fake {
namespace {

constexpr char kOutOfRange[] = "POSITION_OUT_OF_RANGE";
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 62;

PositionNumbering NumberingOf(const FakeModel& model) {
  return model.numbering == PositionNumbering::kUnspecified ? PositionNumbering::kSequential : model.numbering;
}

bool NumbersByIds(const FakeModel& model, const EmbedRequest& request) {
  return NumberingOf(model) == PositionNumbering::kPadding && !request.ids.empty();
}

// What the first cell that counts has without an offset.
std::int64_t FirstPosition(const FakeModel& model) {
  return NumberingOf(model) == PositionNumbering::kPadding ? model.padding_idx.value_or(-1) + 1 : 0;
}

// The position of cells that do not count, by numbering.
std::int64_t UncountedPosition(const FakeModel& model) {
  switch (NumberingOf(model)) {
    case PositionNumbering::kPadding: return model.padding_idx.value_or(0);
    case PositionNumbering::kMask: return -1;
    default: return 1;
  }
}

// Whether a cell uses up a position.
bool Counts(const FakeModel& model, const EmbedRequest& request, std::size_t cell) {
  if (NumbersByIds(model, request)) return request.ids[cell] != model.padding_idx;
  return !MaskMatters(model, request) || request.attention_mask[cell] != 0;
}

std::string OfContext(const FakeModel& model) {
  return absl::StrCat(" exceeds max_context_length ", ContextLength(model), " of model \"", model.name, "\"");
}

absl::Status TooLong(const FakeModel& model, const EmbedRequest& request, const Batch& batch, std::int64_t row,
                     std::int64_t counted) {
  std::string what = absl::StrCat("sequence_length ", counted);
  if (counted != batch.Length(row)) {
    what = absl::StrCat(
        counted, NumbersByIds(model, request) ? " ids that are no padding in row " : " unmasked cells in row ", row);
  } else if (batch.ragged) {
    what = absl::StrCat("row_lengths[", row, "] = ", counted);
  }
  return Invalid("SEQUENCE_TOO_LONG", what + OfContext(model));
}

absl::Status CheckOffsets(const EmbedRequest& request) {
  for (std::size_t b = 0; b < request.position_offsets.size(); ++b) {
    const std::int64_t offset = request.position_offsets[b];
    if (offset < 0) return Invalid(kOutOfRange, absl::StrCat("position_offsets[", b, "] = ", offset, " must be >= 0"));
    if (offset <= kMaxOffset) continue;
    return Invalid(kOutOfRange, absl::StrCat("position_offsets[", b, "] = ", offset, " must be at most 2^62"));
  }
  return absl::OkStatus();
}

std::int64_t OffsetOf(const EmbedRequest& request, std::int64_t row) {
  const auto& offsets = request.position_offsets;
  if (offsets.empty()) return 0;
  return offsets[offsets.size() == 1 ? 0 : static_cast<std::size_t>(row)];
}

// Appends the table's rows of one row of the batch, which begins at `cell`.
absl::Status NumberRow(const FakeModel& model, const EmbedRequest& request, const Batch& batch, std::int64_t row,
                       std::size_t cell, std::vector<std::int64_t>& result) {
  const std::size_t end = cell + static_cast<std::size_t>(batch.Length(row));
  std::int64_t counted = 0;
  for (std::size_t i = cell; i < end; ++i) counted += Counts(model, request, i) ? 1 : 0;
  const std::int64_t offset = OffsetOf(request, row);
  if (counted > 0 && offset > ContextLength(model) - counted) {
    if (offset == 0) return TooLong(model, request, batch, row, counted);
    return Invalid(kOutOfRange, absl::StrCat("position_offsets[", request.position_offsets.size() == 1 ? 0 : row,
                                             "] = ", offset, " with sequence_length ", counted, OfContext(model)));
  }
  std::int64_t next = FirstPosition(model) + offset + model.row_offset;
  const std::int64_t uncounted = UncountedPosition(model) + model.row_offset;
  for (; cell < end; ++cell) {
    result.push_back(Counts(model, request, cell) ? next++ : uncounted);
    if (result.back() >= 0 && result.back() < PositionRows(model)) continue;
    return Invalid(
        kOutOfRange,
        absl::StrCat("attention_mask: a masked cell has no row in the position table of model \"", model.name, "\""));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::int64_t>> TakePositionIds(const FakeModel& model, const EmbedRequest& request,
                                                          const Batch& batch) {
  if (!request.position_offsets.empty()) {
    return Invalid("INVALID_OPTION", "position_ids and position_offsets exclude each other");
  }
  const std::vector<std::int64_t>& ids = request.position_ids;
  const bool shared = static_cast<std::int64_t>(ids.size()) != batch.cells;
  const bool bounded = WithPosition(model, request);
  const std::int64_t room = PositionRows(model) - model.row_offset;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] >= 0 && (!bounded || ids[i] < room)) continue;
    return Invalid(kOutOfRange, absl::StrCat("position_ids: ", ids[i], " names no row"));
  }
  if (!bounded) return std::vector<std::int64_t>();
  std::vector<std::int64_t> result;
  for (std::int64_t cell = 0; cell < batch.cells; ++cell) {
    result.push_back(ids[static_cast<std::size_t>(shared ? cell % batch.tokens : cell)] + model.row_offset);
  }
  return result;
}

}  // namespace

std::int64_t ContextLength(const FakeModel& model) {
  return std::max<std::int64_t>(0, PositionRows(model) - model.row_offset - FirstPosition(model));
}

bool MaskMatters(const FakeModel& model, const EmbedRequest& request) {
  const PositionNumbering numbering = NumberingOf(model);
  return !request.attention_mask.empty() && request.position_ids.empty() && WithPosition(model, request) &&
         (numbering == PositionNumbering::kSequential || numbering == PositionNumbering::kMask);
}

absl::StatusOr<std::vector<std::int64_t>> PositionRowsOf(const FakeModel& model, const EmbedRequest& request,
                                                         const Batch& batch) {
  if (!request.position_ids.empty()) return TakePositionIds(model, request, batch);
  if (absl::Status status = CheckOffsets(request); !status.ok()) return status;
  std::vector<std::int64_t> result;
  if (!WithPosition(model, request)) return result;
  std::size_t cell = 0;
  for (std::int64_t row = 0; row < batch.rows; ++row) {
    if (absl::Status status = NumberRow(model, request, batch, row, cell, result); !status.ok()) return status;
    cell += static_cast<std::size_t>(batch.Length(row));
  }
  return result;
}

}  // namespace embd::client::fake
